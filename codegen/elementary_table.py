"""Rows of pointwise_table.py: signs, rounding, trigonometry, logarithms, choices and combinations.

If only real types have a kernel for a derivative, complex types use the formula on Tensors.
"""

import math
from decimal import Decimal

from codegen.rows import COMPLEX, DIGITS, Row

REAL = {"kinds": "r"}
# 1 - a * a without cancellation near 1, nor in its derivative near 0
REST_OF_SQUARE = "where(a * a < 0.5, 1 - a * a, (1 - a) * (1 + a))"
# (a - b) / (a * a + b * b), also accurate for nearly equal a and b: a quotient by the larger one
LARGER = "a * sgn(a) > b * sgn(b)"
DIFFERENCE = f"(2 * (a / 2 - b / 2) / where({LARGER}, a, where(b == 0, 1, b)) * where({LARGER}, q, p))"
STEP = {"da": "zeros(g)", "kinds": "r", "forward_kinds": "i"}   # rounding: integers are copied
FLOATS_OF = {"kinds": "r", "inexact": True}



def sinc_slope():
    """The derivative of sinc(u) divided by u near 0: a Taylor series in u * u."""
    text = ""
    for k in range(7, -1, -1):
        power = Decimal(DIGITS["3.141592653589793"]) ** (2 * k + 2)
        coefficient = power / (2**k * math.factorial(k) * math.prod(range(3, 2 * k + 4, 2)))
        text = f"({coefficient:.27f}{text and f' - u * u * {text}'})"
    return f"(-{text})"


table = [
    # signs and rounding
    Row("sign", y="sgn(a)", da="zeros(g)", kinds="r", forward_kinds="bir",
        doc=("1 where input is positive, -1 where it is negative, 0 at 0 and NaN; its gradient is 0.",
             "ag.sign(ag.tensor([-3.0, 0.0, 2.0]))", "tensor([-1.,  0.,  1.])")),
    Row("ceil", y="a", real="f", let="f = ceil(a)", **STEP,
        doc=("The smallest integer that is at least input; its gradient is 0.",
             "ag.ceil(ag.tensor([-1.5, 1.5]))", "tensor([-1.,  2.])")),
    Row("floor", y="a", real="f", let="f = floor(a)", **STEP,
        doc=("The largest integer that is at most input; its gradient is 0.",
             "ag.floor(ag.tensor([-1.5, 1.5]))", "tensor([-2.,  1.])")),
    Row("trunc", y="a", real="f", let="f = trunc(a)", methods=("trunc", "fix"), **STEP,
        doc=("input without its fraction; its gradient is 0.",
             "ag.trunc(ag.tensor([-1.5, 1.5]))", "tensor([-1.,  1.])")),
    Row("round_whole", y="a", real="f", let="f = rint(a)", node="RoundBackward0", public=False, **STEP),
    Row("frac", y="a - t", let="t = trunc(a)", da="g", **REAL,
        doc=("The fraction of input, with its sign: input - trunc(input).",
             "ag.frac(ag.tensor([-1.5, 1.25]))", "tensor([-0.5000,  0.2500])")),
    Row("copysign", y="copysign(a, b)", da="g * (sgn(a) * sgn(y))", db="zeros(g)", **FLOATS_OF,
        doc=("abs(input) with the sign of other; the gradient at 0 and for other is 0.",
             "ag.copysign(ag.tensor([1.0, -2.0]), -0.0)", "tensor([-1., -2.])")),
    Row("nextafter", y="nextafter(a, b)", real="n", let="n = nextafter(a, b)", da="where(a == b, 0, g)",
        db="where(a == b, g, 0)", public=False, **REAL),
    Row("heaviside_step", "input, values", y="where(a == 0, b, where(a > 0, 1, 0))", forward_kinds="bir", public=False),

    # trigonometric and hyperbolic
    Row("tan", y="tan(a)", da="g * (1 + y * y)", **FLOATS_OF,
        doc=("The tangent of an angle in radians.", "ag.tan(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.5574])")),
    Row("asin", y="arcsin(a)", let=f"s = sqrt({REST_OF_SQUARE}); r = sqrt(1 - a * a)", da=("g / s", "g / r"),
        methods=("asin", "arcsin"), **FLOATS_OF,
        doc=("The angle in radians whose sine is input; NaN outside of -1 and 1.",
             "ag.asin(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.5708])")),
    Row("acos", y="arccos(a)", let=f"s = sqrt({REST_OF_SQUARE}); r = sqrt(1 - a * a)", da=("-g / s", "-g / r"),
        methods=("acos", "arccos"), **FLOATS_OF,
        doc=("The angle in radians whose cosine is input; NaN outside of -1 and 1.",
             "ag.acos(ag.tensor([0.0, 1.0]))", "tensor([1.5708, 0.0000])")),
    Row("atan", y="arctan(a)", let="p = atan_slope(a)", da=("g * p", "g / (a * a + 1)"),
        methods=("atan", "arctan"), **FLOATS_OF,
        doc=("The angle in radians whose tangent is input.",
             "ag.atan(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.7854])")),
    Row("atan2", y="arctan2(a, b)", let="p = over_square(a, b); q = over_square(b, a)", da="g * p", db="-g * q",
        methods=("atan2", "arctan2"), **FLOATS_OF,
        doc=("The angle in radians, from -pi to pi, of the point with ordinate input and abscissa other.",
             "ag.atan2(ag.tensor([1.0, 1.0]), ag.tensor([1.0, -1.0]))", "tensor([0.7854, 2.3562])")),
    # b / (a * a + b * b)
    Row("over_square", "input, other", y="p", let="p = over_square(a, b); q = over_square(b, a)", da="-2 * g * (p * q)",
        db=f"g * ({DIFFERENCE} * {DIFFERENCE.replace('- b / 2', '+ b / 2')})", public=False, for_rules=True, **REAL),
    Row("sinh", y="sinh(a)", let="z = cosh(a)", da="g * z", **FLOATS_OF,
        doc=("The hyperbolic sine.", "ag.sinh(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.1752])")),
    Row("cosh", y="cosh(a)", let="z = sinh(a)", da="g * z", **FLOATS_OF,
        doc=("The hyperbolic cosine.", "ag.cosh(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 1.5431])")),
    Row("asinh", y="arcsinh(a)", let="s = sqrt(a * a + 1)",
        da=("g / where(a * sgn(a) > 1000000000, a * sgn(a), s)", "g / s"), methods=("asinh", "arcsinh"), **FLOATS_OF,
        doc=("The inverse of the hyperbolic sine.", "ag.asinh(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8814])")),
    Row("acosh", y="arccosh(a)", let="s = sqrt((a - 1) * (a + 1)); p = sqrt(a + 1); q = sqrt(a - 1)",
        da=("g / where(a > 1000000000, a, s)", "g / (p * q)"), methods=("acosh", "arccosh"), **FLOATS_OF,
        doc=("The inverse of the hyperbolic cosine; NaN below 1.",
             "ag.acosh(ag.tensor([1.0, 2.0]))", "tensor([0.0000, 1.3170])")),
    Row("atanh", y="arctanh(a)", da=(f"g / {REST_OF_SQUARE}", "g / (1 - a * a)"), methods=("atanh", "arctanh"), **FLOATS_OF,
        doc=("The inverse of the hyperbolic tangent; NaN outside of -1 and 1.",
             "ag.atanh(ag.tensor([0.0, 0.5]))", "tensor([0.0000, 0.5493])")),
    Row("angle_of_real", "input", y="where(isnan(a), a, where(a < 0, 3.141592653589793, 0))", forward_kinds="r", inexact=True,
        public=False),
    Row("sinc", y="where(a == 0, 1, s / (3.141592653589793 * a))",
        let="s = sin(3.141592653589793 * a); z = cos(3.141592653589793 * a); "
            "u = below_quarter(a); r = inverse_above_quarter(a)",
        da=(f"g * where(a * a < 0.0625, u * {sinc_slope()}, (z - 0.3183098861837907 * s * r) * r)",
            "where(a == 0, 0, g * ((3.141592653589793 * a * z - s) / (3.141592653589793 * a * a)))"), kinds="r",
        forward_kinds="rc", inexact=True,
        doc=("sin(pi * input) / (pi * input), and 1 at 0.",
             "ag.sinc(ag.tensor([0.0, 0.5]))", "tensor([1.0000, 0.6366])")),
    Row("hypot", y="hypot(a, b)", real="h", let="h = hypot(a, b)", da="g * (a / where(y == 0, 1, y))",
        db="g * (b / where(y == 0, 1, y))", length=True, **REAL,
        doc=("sqrt(input**2 + other**2), without intermediate overflow.",
             "ag.hypot(ag.tensor([3.0]), ag.tensor([4.0]))", "tensor([5.])")),
    Row("deg2rad", y="a * 0.017453292519943295", da="g * 0.017453292519943295", node="Deg2RadBackward0", **FLOATS_OF,
        doc=("Degrees as radians.", "ag.deg2rad(ag.tensor([180.0, 90.0]))", "tensor([3.1416, 1.5708])")),
    Row("rad2deg", y="a * 57.29577951308232", da="g * 57.29577951308232", node="Rad2DegBackward0", **FLOATS_OF,
        doc=("Radians as degrees.", "ag.rad2deg(ag.tensor([0.0, 1.0]))", "tensor([ 0.0000, 57.2958])")),

    # exponential functions and logarithms
    Row("expm1", y="expm1(a)", da="g * (y + 1)", **FLOATS_OF,
        doc=("exp(input) - 1, exact near 0.", "ag.expm1(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.7183])")),
    Row("exp2", y="exp2(a)", da="g * y * 0.6931471805599453", **FLOATS_OF,
        doc=("2 to the power of input.", "ag.exp2(ag.tensor([0.0, 3.0]))", "tensor([1., 8.])")),
    Row("log1p", y="log1p(a)", da="g / (a + 1)", node="Log1PBackward0", **FLOATS_OF,
        doc=("log(1 + input), exact near 0.", "ag.log1p(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.6931])")),
    Row("log2", y="log2(a)", da="g * 1.4426950408889634 / a", **FLOATS_OF,
        doc=("The logarithm to base 2.", "ag.log2(ag.tensor([1.0, 3.0]))", "tensor([0.0000, 1.5850])")),
    Row("log10", y="log10(a)", da="g * 0.4342944819032518 / a", **FLOATS_OF,
        doc=("The logarithm to base 10.", "ag.log10(ag.tensor([1.0, 2.0]))", "tensor([0.0000, 0.3010])")),
    Row("ldexp", y="a * p", real="v", let="p = exp2(b); v = ldexp(a, b); w = ldexp(g, b)", da=("w", "g * p"),
        db="g * y * 0.6931471805599453", kinds="r", forward_kinds="rc", inexact=True,
        doc=("input * 2**other.", "ag.ldexp(ag.tensor([1.0, 3.0]), ag.tensor([2, -1]))", "tensor([4.0000, 1.5000])")),
    Row("logaddexp", y="logaddexp(a, b)", real="s", let="s = logaddexp(a, b); p = sigmoid(a - b); q = sigmoid(b - a)",
        da="g * p", db="g * q", public=False, **REAL),
    Row("logaddexp2", y="logaddexp2(a, b)", real="s", let="s = logaddexp2(a, b); p = sigmoid(0.6931471805599453 * (a - b)); "
        "q = sigmoid(0.6931471805599453 * (b - a))", da="g * p", db="g * q", in_place=False, **REAL,
        doc=("log2(2**input + 2**other), without intermediate overflow.",
             "ag.logaddexp2(ag.tensor([1.0]), ag.tensor([1.0]))", "tensor([2.])")),
    Row("xlogy", y="where(isnan(b), b, where(a == 0, 0, a * l))", let="l = log(b)",
        da="where(a == 0, where(b <= 0, 0, g * l), g * l)", db="g * a / b", **FLOATS_OF,
        doc=("input * log(other), and 0 where input is 0, unless other is NaN.",
             "ag.xlogy(ag.tensor([0.0, 2.0]), ag.tensor([0.0, 1.0]))", "tensor([0., 0.])")),
    Row("logit_of", y="l", let="l = log(a / (1 - a)); s = sqrt(a * (1 - a))", node="LogitBackward0",
        da=("where(a * (1 - a) >= 0, g / a / (1 - a), zeros(g) / zeros(g))", "g / (s * s)"),
        constants=("eps",), public=False, **FLOATS_OF),     # NaN outside of 0 and 1
    Row("logit_within", "input, low, high", y="l", let="l = log(where(a < b, b, where(a > c, c, a)) / (1 - "
        "where(a < b, b, where(a > c, c, a))))", da="where(a < b, 0, where(a > c, 0, g / a / (1 - a)))",
        node="LogitBackward0", saved=("self", None, None), numbers=2, constants=("eps",), public=False, **FLOATS_OF),
    Row("erfc", y="r", let="r = erfc(a); e = exp(-a * a)", da="-1.1283791670955126 * g * e", **FLOATS_OF,
        doc=("1 - erf(input), exact where the result is small.",
             "ag.erfc(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 0.1573])")),

    # choices and combinations
    Row("fmax", y="fmax(a, b)", da="where(a >= b, g, where(isnan(b), g, 0))", db="where(a >= b, 0, where(isnan(b), 0, g))",
        kinds="r", without=COMPLEX, in_place=False,
        doc=("The larger of input and other, ignoring NaN; where they are equal, input gets the gradient.",
             "ag.fmax(ag.tensor([1.0, float('nan')]), ag.tensor([3.0, 2.0]))", "tensor([3., 2.])")),
    Row("fmin", y="fmin(a, b)", da="where(a <= b, g, where(isnan(b), g, 0))", db="where(a <= b, 0, where(isnan(b), 0, g))",
        kinds="r", without=COMPLEX, in_place=False,
        doc=("The smaller of input and other, ignoring NaN; where they are equal, input gets the gradient.",
             "ag.fmin(ag.tensor([1.0, float('nan')]), ag.tensor([3.0, 2.0]))", "tensor([1., 2.])")),
    Row("clamp_min_tensor", "input, min", y="maximum(a, b)", da="where(a >= b, g, 0)", db="where(a < b, g, 0)", kinds="r",
        node="ClampMinBackward1", saved=("self", "min", None), without=COMPLEX, public=False),
    Row("clamp_min_number", "input, min", same_as="clamp_min_tensor", da="where(a >= b, g, 0)", kinds="r",
        node="ClampMinBackward0", saved=("self", "min", None), numbers=1, public=False),
    Row("clamp_max_tensor", "input, max", y="minimum(a, b)", da="where(a <= b, g, 0)", db="where(a > b, g, 0)", kinds="r",
        node="ClampMaxBackward1", saved=("self", "max", None), without=COMPLEX, public=False),
    Row("clamp_max_number", "input, max", same_as="clamp_max_tensor", da="where(a <= b, g, 0)", kinds="r",
        node="ClampMaxBackward0", saved=("self", "max", None), numbers=1, public=False),
    Row("lerp_tensor", "input, end, weight", y="a + c * (b - a)",
        real="where(c * c < 0.25, a + c * (b - a), b - (b - a) * (1 - c))", da="g * (1 - c)", db="g * c", dc="g * (b - a)",
        node="LerpBackward1", saved=("self", "end", "weight"), kinds="r", forward_kinds="rc", public=False),
    Row("lerp_number", "input, end, weight", same_as="lerp_tensor", da="g * (1 - c)", db="g * c", node="LerpBackward0",
        saved=("self", "end", None), kinds="r", numbers=1, constants=("weight",), opmath=True, public=False),
    Row("add_product", "input, tensor1, tensor2", y="a + b * c", da="g", db="g * c", dc="g * b", node="AddcmulBackward0",
        saved=("self", "tensor1", "tensor2"), kinds="r", forward_kinds="irc", constants=("value",), public=False),
    Row("add_quotient", "input, tensor1, tensor2", y="a + b / c", da="g", db="g / c", dc="-g * (b * (1 / c) * (1 / c))",
        node="AddcdivBackward0", saved=("self", "tensor1", "tensor2"), kinds="r", forward_kinds="rc", constants=("value",),
        public=False),
    Row("gcd", y="gcd(a, b)",
        doc=("The greatest common divisor of integers.", "ag.gcd(ag.tensor([12, 0]), 8)", "tensor([4, 8])")),
    Row("lcm", y="lcm(a, b)",
        doc=("The least common multiple of integers.", "ag.lcm(ag.tensor([4, 0]), 6)", "tensor([12,  0])")),
    Row("conj_physical_of", same_as="conj", da="conj(g)", node="ConjPhysicalBackward0", holomorphic=False, kinds="",
        args="input", public=False),
]
