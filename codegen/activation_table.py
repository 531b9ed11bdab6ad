"""Rows of pointwise_table.py: activations, and losses of single elements.

Rows that are not public have a function in ops/nn which checks its arguments. A loss may be summed in the same node
(ops/pointwise/nodes/loss_node.pyx).
"""

from codegen.rows import Row

REAL = {"kinds": "r"}
PUBLIC = REAL | {"namespace": "nn.functional", "inplace": True}
HIDDEN = REAL | {"public": False}
LOSS = HIDDEN | {"loss": True}
FACTOR = HIDDEN | {"for_rules": True, "wide": True}
NO_WEIGHT = {"weight": "None"}      # the weighted losses multiply by it
DISTANCE = "(a - b) * sgn(a - b)"

table = [
    # piecewise linear
    Row("hardswish", y="a * (where(a > -3, where(a < 3, a + 3, 6), 0) / 6)",
        da="where(a <= -3, 0, where(a < 3, g * (a / 3 + 0.5), g))", **PUBLIC,
        doc=("input * min(max(input + 3, 0), 6) / 6. Source: Howard et al., \"Searching for MobileNetV3\" (2019).",
             "ag.nn.functional.hardswish(ag.tensor([-4.0, 0.0, 3.0]))", "tensor([-0., 0., 3.])")),
    Row("hardsigmoid", y="where(a <= -3, 0, where(a >= 3, 1, (a + 3) / 6))", da="where(a > -3, where(a < 3, g / 6, 0), 0)",
        **PUBLIC,
        doc=("min(max(input + 3, 0), 6) / 6.",
             "ag.nn.functional.hardsigmoid(ag.tensor([-4.0, 0.0, 3.0]))", "tensor([0.0000, 0.5000, 1.0000])")),
    Row("hardtanh_between", "input, min_val, max_val", same_as="clamp_numbers", da="where(a <= b, 0, where(a >= c, 0, g))",
        node="HardtanhBackward0", saved=("self", None, None), numbers=2, constants=("min_val", "max_val"), **HIDDEN),
    Row("threshold", "input, threshold: float, value: float", y="where(a <= b, c, a)", da="where(a <= b, 0, g)",
        saved=("self", None, None), numbers=2, forward_kinds="ir", constants=("threshold", None), **PUBLIC,
        doc=("input where it is above the threshold, otherwise `value`, without a gradient.",
             "ag.nn.functional.threshold(ag.tensor([-1.0, 0.5, 2.0]), 0.5, 9.0)", "tensor([9., 9., 2.])")),
    Row("hardshrink", "input, lambd: float = 0.5", y="where(a >= -b, where(a <= b, 0, a), a)",
        da="where(a >= -b, where(a <= b, 0, g), g)", saved=("self", None, None), numbers=1, in_place=False, **REAL,
        doc=("0 where input is between -lambd and lambd, otherwise input.",
             "ag.hardshrink(ag.tensor([-1.0, 0.5, 2.0]))", "tensor([-1.,  0.,  2.])")),
    Row("softshrink_by", "input, lambd", y="where(a > b, a - b, where(a < -b, a + b, where(isnan(a), a, 0)))",
        da="where(a >= -b, where(a <= b, 0, g), g)", node="SoftshrinkBackward0", saved=("self", None, None), numbers=1,
        constants=("lambd",), **HIDDEN),
    Row("prelu_kernel", "input, weight", y="where(a > 0, a, a * b)", da="where(a > 0, g, g * b)", db="where(a > 0, 0, g * a)",
        saved=("self", "weight", None), **HIDDEN),
    Row("softsign_of", y="a / (1 + a * sgn(a))", da="g / (1 + a * sgn(a)) / (1 + a * sgn(a))", node="SoftsignBackward0",
        inexact=True, **HIDDEN),
    Row("tanhshrink_of", y="r", let="r = tanh_rest(a); q = tanh_square(a)", da="g * q", node="TanhshrinkBackward0",
        inexact=True, wide=True, **HIDDEN),
    Row("tanh_square", y="q", let="q = tanh_square(a); t = tanh(a); s = sigmoid_slope(2 * a)", da="8 * g * t * s", **FACTOR),
    Row("rrelu_with_noise", "input, noise", y="a * b", da="g * b", db="g * a", saved=("self", "noise", None),
        constants=("lower", "upper", "training"), **HIDDEN),
    Row("rrelu_without_noise", "input, slope", same_as="leaky_relu", da="where(a > 0, g, g * b)",
        node="RreluWithNoiseBackward0", saved=("self", "noise", None), numbers=1, constants=("lower", "upper", "training"),
        **HIDDEN),

    # exponential
    Row("elu_scaled", "input, alpha, scale", y="where(a <= 0, b * c * m, a * c)",
        let="m = expm1(a); e = exp(where(a > 0, 0, a))",
        da="where(a <= 0, g * (b * c * e), g * c)", node="EluBackward0", saved=("self", None, None), numbers=2, wide=True,
        constants=("alpha", "scale"), shows={"input_scale": "1"}, **HIDDEN),
    Row("celu_of", "input, alpha", y="where(a <= 0, b * m, a)", let="m = expm1(a / b); e = exp(where(a > 0, 0, a / b))",
        da="where(a <= 0, g * e, g)", node="CeluBackward0", saved=("self", None, None), numbers=1, wide=True,
        constants=("alpha",), **HIDDEN),
    Row("softplus", "input, beta: float = 1, threshold: float = 20", y="where(a * b > c, a, l / b)",
        let="l = log1pexp(a * b); s = sigmoid(a * b)", da="where(a * b > c, g, g * s)", saved=("self", None, None),
        numbers=2, wide=True, namespace="nn.functional", **REAL,
        doc=("log(1 + exp(beta * input)) / beta; input itself where beta * input is above the threshold.",
             "ag.nn.functional.softplus(ag.tensor([0.0, 30.0]))", "tensor([ 0.6931, 30.0000])")),
    Row("logsigmoid", y="-l", let="l = log1pexp(-a); s = sigmoid(-a)", da="g * s", node="LogSigmoidBackward0", wide=True,
        shows={"buffer": "(-a.detach().abs()).exp()"}, namespace="nn.functional", **REAL,
        doc=("log(sigmoid(input)), exact where the sigmoid is near 0 or 1.",
             "ag.nn.functional.logsigmoid(ag.tensor([0.0, -1000.0]))", "tensor([-6.9315e-01, -1.0000e+03])")),
    Row("mish", y="a * t", let="t = mish_gate(a); d = mish_gate_slope(a)", da="g * (t + a * d)", wide=True, **PUBLIC,
        doc=("input * tanh(softplus(input)). Source: Misra, \"Mish\" (2019).",
             "ag.nn.functional.mish(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8651])")),
    Row("mish_gate", y="t", let="t = mish_gate(a); d = mish_gate_slope(a)", da="g * d", **FACTOR),
    Row("gated", "input, gate", y="a * s", let="s = sigmoid(b); d = sigmoid_slope(b)", da="g * s", db="g * a * d",
        recorded=False, wide=True, **HIDDEN),

    # the entropy of a Bernoulli variable as a function of its logit: a sum of positive terms
    Row("trial_entropy", y="l + where(a > 0, a, -a) * s",
        let="l = log1pexp(where(a > 0, -a, a)); s = sigmoid(where(a > 0, -a, a)); d = sigmoid_slope(a)", da="-g * (a * d)",
        inexact=True, **FACTOR),

    # losses
    Row("smooth_l1_of", "input, target, beta", y=f"where({DISTANCE} < c, 0.5 * (a - b) * (a - b) / c, {DISTANCE} - 0.5 * c)",
        da="where(a - b >= c, g, where(b - a >= c, -g, g * (a - b) / c))",
        db="where(a - b >= c, -g, where(b - a >= c, g, g * (b - a) / c))", node="SmoothL1LossBackward0",
        saved=("self", "target", None), numbers=1, constants=("reduction", "beta"), **LOSS),
    Row("huber_of", "input, target, delta", y=f"where({DISTANCE} <= c, 0.5 * (a - b) * (a - b), c * ({DISTANCE} - 0.5 * c))",
        da="where(a - b >= c, c * g, where(b - a >= c, -c * g, g * (a - b)))",
        db="where(a - b >= c, -c * g, where(b - a >= c, c * g, g * (b - a)))", node="HuberLossBackward0",
        saved=("self", "target", None), numbers=1, constants=("reduction", "delta"), **LOSS),
    Row("binary_cross_entropy_of", "input, target",
        y="(b - 1) * where(r < -100, -100, r) - b * where(l < -100, -100, l)", let="l = log_of(a); r = log_of_rest(a)",
        da="g * (a - b) / where(a * (1 - a) < 0.000000000001, 0.000000000001, a * (1 - a))", db="g * (r - l)",
        node="BinaryCrossEntropyBackward0", saved=("self", "target", None), shows=NO_WEIGHT, **LOSS),
    # l and s belong to -|a|, so that no terms of the loss or its derivative cancel, and tails stay exact
    Row("binary_cross_entropy_of_logits", "input, target", y="where(a > 0, (1 - b) * a, -b * a) + l",
        let="l = log1pexp(where(a > 0, -a, a)); s = sigmoid(where(a > 0, -a, a))",
        da="g * where(a > 0, 1 - b - s, s - b)", db="-g * a", node="BinaryCrossEntropyWithLogitsBackward0",
        saved=("self", "target", "pos_weight"), shows=NO_WEIGHT, **LOSS),
    Row("binary_cross_entropy_weighting_positives", "input, target, pos_weight",
        y="where(a > 0, (1 - b) * a, -c * b * a) + (1 - b + c * b) * l",
        let="l = log1pexp(where(a > 0, -a, a)); s = sigmoid(where(a > 0, -a, a))",
        da="g * where(a > 0, 1 - b - (1 - b + c * b) * s, (1 - b + c * b) * s - c * b)",
        db="g * (where(a > 0, -a, -c * a) + (c - 1) * l)", dc="g * (b * (where(a > 0, 0, -a) + l))",
        node="BinaryCrossEntropyWithLogitsBackward0", saved=("self", "target", "pos_weight"), shows=NO_WEIGHT, **LOSS),
    # kl_div of logarithms and its derivatives for the target: alone, the exponential may overflow and terms may cancel
    Row("divergence", "input, target", y="w", let="w = divergence(a, b); v = divergence_slope(a, b); e = exp(b)", da="-g * e",
        db="g * v", node="KlDivBackward0", inexact=True, **FACTOR),
    Row("divergence_slope", "input, target", y="v",
        let="v = divergence_slope(a, b); u = divergence_curvature(a, b); e = exp(b)", da="-g * e", db="g * u", **FACTOR),
    Row("divergence_curvature", "input, target", y="u", let="u = divergence_curvature(a, b); e = exp(b)", da="-g * e",
        db="g * e * (b - a + 3)", **FACTOR),
    Row("log_of_sum", "input, other", y="l", let="l = log_of_sum(a, b)", da="g / (a + b)", numbers=1, node="LogBackward0",
        saved=("self", None, None), inexact=True, **FACTOR),
    Row("soft_margin_of", "input, target", y="l",
        let="l = log1pexp(-a * b); s = sigmoid(where(a * b > 0, -a * b, a * b))",
        da="-g * b * where(a * b > 0, s, 1 - s)", db="-g * a * where(a * b > 0, s, 1 - s)", node="SoftMarginLossBackward0",
        saved=("self", "target", None), **LOSS),
]
