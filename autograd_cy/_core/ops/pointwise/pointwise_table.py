"""The table of elementwise operations, from which setup.py renders pointwise.pyx (read at build time only).

A row: op(name, arguments, forward, {input: derivative}, ...)
  forward      a NumPy ufunc's name, or a formula where NumPy has none
  derivative   a formula over g (the incoming gradient), the inputs a, b, c and the output y. It is linear in g, so
               with the tangent for g it serves forward mode, too. What it reads is what gets saved. A pair: the
               formula for real types and the one for complex types.
  let          values that formulas share, "name = function(arguments)": a function of elementary.h, part of the loop (for
               real types), or one of NumPy's, whose loop is called block by block
  node, saved  PyTorch's names of the node and of what it saves: the inputs a, b and (c or the output)
  kinds        derivative kernels for r(eal), c(omplex) types; other types go by the rule
  real_forward a formula in place of `forward` for float and double: where the compiler makes a faster loop of it
  without      types that NumPy has a loop for, but the operation doesn't take: (first code, end)
  in_place     whether a public operation has a variant that writes into its first operand: exp_()
  numbers      how many of the last inputs are numbers always: no edge leads to them, and users see them as numbers. Those
               of a public row are parameters, perhaps with a default, which don't take part in promotion
  inplace      whether the function, one of nn.functional, takes inplace=
  same_as      the row whose forward this one has, too
  opmath       what is float16 together with a second operand that is a number is computed in float32, the number as it is
  wide         derivatives of float16 are computed in float32
  example      for the docstring: a call, and what it returns
  holomorphic  the gradient is conj(F(conj(g))); False: F(g) itself
Vocabulary: + - * /, where(condition, x, y), conj, sgn, real, in a forward isnan, and the functions of `let`.
"""

import re
from types import SimpleNamespace

table = []
INTEGERS, COMPLEX = ("BOOL", "FLOAT16"), ("COMPLEX64", "NCODES")
OF_TWO = ("pow", "pow_number", "fmod", "floor_quotient")      # functions of `let` with two arguments


def op(name, args, forward=None, derivatives=None, let="", node=None, saved=("self", "other", "result"), kinds="rc",
       forward_kinds=None, inexact=False, holomorphic=True, result="SAME_TYPE", methods=None, doc="", example=None,
       public=True, namespace="", without=None, real_forward=None, in_place=True, numbers=0, same_as=None, opmath=False,
       wide=False, inplace=False):
    lets = {}
    for line in filter(None, (part.strip() for part in let.split(";"))):
        variable, function, arguments = re.fullmatch(r"(\w+) = (\w+)\((.*)\)", line).groups()
        lets[variable] = (function, [a.strip() for a in arguments.split(",")] if function in OF_TWO else [arguments])
    derivatives = {x: d if isinstance(d, tuple) else (d, d) for x, d in (derivatives or {}).items()}
    inputs = ["a", "b", "c"][:len(args.split(","))]
    table.append(SimpleNamespace(
        name=name, args=args, inputs=inputs, forward=forward, derivatives=derivatives, lets=lets, node=node,
        saved=saved, kinds=kinds, forward_kinds=forward_kinds or kinds, inexact=inexact, holomorphic=holomorphic,
        result=result, methods=(name,) if methods is None else methods, doc=doc, example=example, public=public,
        namespace=namespace, without=without, real_forward=real_forward, in_place=in_place and public and not namespace,
        numbers=numbers, same_as=same_as, opmath=opmath, wide=wide, inplace=inplace,
        parameters=[re.match(r"\w+", a)[0] for a in args.split(", ")]))


# arithmetic
op("add", "input, other", "add", real_forward="a + b", derivatives={"a": "g", "b": "g"}, node="AddBackward0",
   public=False)
op("sub", "input, other", "subtract", real_forward="a - b", derivatives={"a": "g", "b": "-g"}, node="SubBackward0",
   public=False)
op("rsub", "input, other", "b - a", {"a": "-g"}, node="RsubBackward1", forward_kinds="irc", numbers=1, public=False)
op("add_scaled", "input, other, alpha", "a + c * b", {"a": "g", "b": "g * c"}, node="AddBackward0",
   saved=("self", "other", None), forward_kinds="irc", numbers=1, public=False)
op("sub_scaled", "input, other, alpha", same_as="add_scaled", derivatives={"a": "g", "b": "g * c"}, node="SubBackward0",
   saved=("self", "other", None), numbers=1, public=False)
op("mul", "input, other", "multiply", real_forward="a * b", derivatives={"a": "g * b", "b": "g * a"},
   node="MulBackward0", methods=("mul", "multiply"), opmath=True,
   doc="The product input * other.",
   example=("ag.mul(ag.tensor([1.0, 2.0]), 3.0)", "tensor([3., 6.])"))
op("div", "input, other", "true_divide", {"a": "g / b", "b": "-g * (a / b) / b"}, node="DivBackward0",
   inexact=True, opmath=True, public=False)
op("floor_divide", "input, other", "floor_divide", opmath=True, public=False)
op("trunc_divide", "input, other", "t", let="t = trunc(a / b)", kinds="r", opmath=True, public=False)
op("remainder", "input, other", "remainder", {"a": "g", "b": "-g * q"}, without=("FLOAT16", "FLOAT32"),
   real_forward="where(m == 0, m, where((b < 0) == (m < 0), m, m + b))", kinds="r",
   let="m = fmod(a, b); q = floor_quotient(a, b)", node="RemainderBackward1", public=False)
op("remainder_by_number", "input, other", same_as="remainder", derivatives={"a": "g"}, node="RemainderBackward0", numbers=1,
   public=False)
op("fmod", "input, other", "fmod", {"a": "g", "b": "-g * t"}, let="t = trunc(a / b)", kinds="r", node="FmodBackward1",
   public=False)
op("fmod_by_number", "input, other", same_as="fmod", derivatives={"a": "g"}, node="FmodBackward0", numbers=1, public=False)
# a number as exponent: at 0.5 NumPy's loop takes the square root, as PyTorch does, so -inf becomes nan. A tensor: never
op("power_to_number", "input, exponent", "power", {"a": "where(b == 0, 0, g * (b * p))"}, let="p = pow_number(a, b - 1)",
   without=INTEGERS, node="PowBackward0", saved=("self", "exponent"), numbers=1, public=False)
POWER = {"a": "where(b == 0, 0, g * (b * p))",
         "b": ("g * where(where(a == 0, b, -1) >= 0, 0, y * l)", "where(a == 0, 0, g * (y * l))")}
op("power", "input, exponent", "f", POWER, let="f = pow(a, b); p = pow(a, b - 1); l = log(a)",
   node="PowBackward1", saved=("self", "exponent", "result"), public=False)
op("power_to_element", "input, exponent", same_as="power_to_number", derivatives=POWER, let="p = pow(a, b - 1); l = log(a)",
   node="PowBackward1", saved=("self", "exponent", "result"), public=False)
op("power_of_number", "exponent, input", "p", let="p = pow(b, a); l = log(b)", derivatives=
   {"a": ("g * where(where(b == 0, a, -1) >= 0, 0, y * l)", "where(b == 0, 0, g * (y * l))")},
   node="PowBackward2", saved=("exponent", "self", "result"), numbers=1, public=False)
op("power_of_half", "input, exponent", same_as="power", derivatives={"a": "where(b == 0, 0, g * (b * p))"},
   let="p = pow_number(a, b - 1)", node="PowBackward0", saved=("self", "exponent"), kinds="", numbers=1, public=False)
op("power_root", "input, exponent", same_as="power_to_number", derivatives={"a": "g * (b * r)"}, let="r = inverse_root(a)",
   node="PowBackward0", saved=("self", "exponent"), kinds="r", numbers=1, public=False)
op("power_inverse_root", "input, exponent", "r", {"a": "g * (b * p)"}, let="r = inverse_root(a); p = pow_number(a, b - 1)",
   node="PowBackward0", saved=("self", "exponent"), kinds="r", numbers=1, public=False)
op("power_cubed_root", "input, exponent", same_as="power_to_number", derivatives={"a": "g * (b * r)"}, let="r = root(a)",
   node="PowBackward0", saved=("self", "exponent"), kinds="r", numbers=1, public=False)
op("power_to_zero", "input, exponent", same_as="power_to_number", derivatives={"a": "where(a == 0, 0, zeros(g))"},
   node="PowBackward0", saved=("self", "exponent"), kinds="r", numbers=1, public=False)
op("squared", "input, exponent", "a * a", {"a": "g * (2 * a)"}, node="PowBackward0", saved=("self", "exponent"),
   forward_kinds="irc", numbers=1, public=False)
op("cubed", "input, exponent", "a * a * a", {"a": "g * (3 * (a * a))"}, node="PowBackward0", saved=("self", "exponent"),
   forward_kinds="irc", numbers=1, public=False)
op("neg", "input", "negative", {"a": "-g"}, node="NegBackward0", methods=("neg", "negative"), doc="-input.",
   example=("ag.neg(ag.tensor([1.0, -2.0]))", "tensor([-1.,  2.])"))
op("reciprocal", "input", "reciprocal", {"a": "-g * y * y"}, node="ReciprocalBackward0", inexact=True,
   doc="1 / input.",
   example=("ag.reciprocal(ag.tensor([2.0, 4.0]))", "tensor([0.5000, 0.2500])"))
op("abs", "input", "absolute", {"a": "g * sgn(a)"}, node="AbsBackward0", kinds="r", holomorphic=False,
   result="REAL_PART", methods=("abs", "absolute"), without=("BOOL", "UINT8"),
   doc="The absolute value; its gradient at 0 is 0.",
   example=("ag.abs(ag.tensor([-1.0, 2.0]))", "tensor([1., 2.])"))
op("sgn", "input", "sgn(a)", {"a": ("zeros(g)", "where(a == 0, 0, (g - y * real(conj(y) * g)) / abs(a))")},
   node="SgnBackward0", kinds="", forward_kinds="irc", holomorphic=False,
   doc="input / abs(input), and 0 at 0: the sign of a real number, that of NaN is 0.",
   example=("ag.sgn(ag.tensor([-3.0, 0.0, 2.0]))", "tensor([-1.,  0.,  1.])"))
op("conj", "input", "conjugate", {"a": "conj(g)"}, node="ConjBackward0", holomorphic=False, public=False)
op("maximum", "input, other", "maximum", {"a": "where(a == b, g / 2, where(a < b, 0, g))",
                                          "b": "where(a == b, g / 2, where(b < a, 0, g))"},
   node="MaximumBackward0", kinds="r", without=COMPLEX, in_place=False,
   doc="The larger of input and other; equal ones share the gradient.",
   example=("ag.maximum(ag.tensor([1.0, 4.0]), ag.tensor([3.0, 2.0]))", "tensor([3., 4.])"))
op("minimum", "input, other", "minimum", {"a": "where(a == b, g / 2, where(a > b, 0, g))",
                                          "b": "where(a == b, g / 2, where(b > a, 0, g))"},
   node="MinimumBackward0", kinds="r", without=COMPLEX, in_place=False,
   doc="The smaller of input and other; equal ones share the gradient.",
   example=("ag.minimum(ag.tensor([1.0, 4.0]), ag.tensor([3.0, 2.0]))", "tensor([1., 2.])"))
op("clamp_numbers", "input, min, max", "where(a > c, c, where(a < b, where(b > c, c, b), a))",
   {"a": "where(a >= b, where(a <= c, g, 0), 0)"}, node="ClampBackward1", saved=("self", None, None), kinds="r",
   forward_kinds="ir", numbers=2, public=False)
op("clamp_tensors", "input, min, max", "where(isnan(a), a, where(isnan(b), b, where(isnan(c), c, " \
                                       "where(a > c, c, where(a < b, where(b > c, c, b), a)))))",
   {"a": "where(a >= b, where(a <= c, g, 0), 0)", "b": "where(a < b, where(b < c, g, 0), 0)",
    "c": "where(a > c, g, where(b > c, g, 0))"},
   node="ClampBackward0", saved=("self", "min", "max"), kinds="r", forward_kinds="ir", public=False)
op("clamp_from", "input, min, max", "where(a < b, b, where(isnan(b), b, a))", {"a": "where(a >= b, g, 0)",
   "b": "where(a < b, g, 0)"}, node="ClampBackward0", saved=("self", "min", "max"), kinds="r", forward_kinds="ir",
   public=False)
op("clamp_to", "input, min, max", "where(a > c, c, where(isnan(c), c, a))", {"a": "where(a <= c, g, 0)",
   "c": "where(a > c, g, 0)"}, node="ClampBackward0", saved=("self", "min", "max"), kinds="r", forward_kinds="ir",
   public=False)

# exponential, trigonometric, error function
op("exp", "input", "exp", real_forward="e", derivatives={"a": "g * y"}, let="e = exp(a)", node="ExpBackward0", inexact=True,
   doc="e to the power of input.",
   example=("ag.exp(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 2.7183])"))
op("log", "input", "log", {"a": "g / a"}, node="LogBackward0", inexact=True, doc="The natural logarithm.",
   example=("ag.log(ag.tensor([1.0, 10.0]))", "tensor([0.0000, 2.3026])"))
op("sqrt", "input", "sqrt", {"a": "g / (2 * y)"}, node="SqrtBackward0", inexact=True,
   doc="The square root; its gradient at 0 is infinite.",
   example=("ag.sqrt(ag.tensor([4.0, 9.0]))", "tensor([2., 3.])"))
op("rsqrt", "input", "1 / s", {"a": "-0.5 * g * y * y * y"}, let="s = sqrt(a)", node="RsqrtBackward0", inexact=True,
   doc="1 / sqrt(input).",
   example=("ag.rsqrt(ag.tensor([4.0, 16.0]))", "tensor([0.5000, 0.2500])"))
op("sin", "input", "sin", {"a": "g * z"}, let="z = cos(a)", node="SinBackward0", inexact=True,
   doc="The sine of an angle in radians.",
   example=("ag.sin(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8415])"))
op("cos", "input", "cos", {"a": "-g * z"}, let="z = sin(a)", node="CosBackward0", inexact=True,
   doc="The cosine of an angle in radians.",
   example=("ag.cos(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 0.5403])"))
op("tanh", "input", "tanh", {"a": "g * (1 - y * y)"}, node="TanhBackward0", inexact=True, wide=True,
   doc="The hyperbolic tangent.",
   example=("ag.tanh(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.7616])"))
op("sigmoid", "input", "1 / (1 + e)", real_forward="s", derivatives={"a": "g * (1 - y) * y"},
   let="e = exp(-a); s = sigmoid(a)", node="SigmoidBackward0", inexact=True, wide=True,
   doc="The logistic function 1 / (1 + exp(-input)).",
   example=("ag.sigmoid(ag.tensor([0.0, 1.0]))", "tensor([0.5000, 0.7311])"))
op("erf", "input", "r", {"a": "1.1283791670955126 * g * e"}, let="r = erf(a); e = exp(-a * a)", node="ErfBackward0",
   kinds="r", inexact=True, doc="The error function 2 / sqrt(pi) * integral of exp(-t**2) from 0 to input.",
   example=("ag.erf(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8427])"))

# activations
op("threshold_backward", "grad, result", "threshold(b, a)", {"a": "threshold(b, g)", "b": "zeros(g)"}, kinds="r",
   node="ThresholdBackwardBackward0", saved=(None, "self", None), public=False)
op("relu", "input", "where(a < 0, 0, a)", {"a": "threshold(y, g)"}, node="ReluBackward0", kinds="r", inplace=True,
   forward_kinds="ir", doc="max(input, 0); its gradient at 0 is 0.",
   example=("ag.relu(ag.tensor([-1.0, 2.0]))", "tensor([0., 2.])"))
op("silu", "input", "a * s", {"a": "g * s * (1 + a * (1 - s))"}, let="s = sigmoid(a)", node="SiluBackward0",
   wide=True, methods=(), namespace="nn.functional", inplace=True,
   doc="input * sigmoid(input).\n\n    Source: Elfwing, Uchibe, Doya, \"Sigmoid-weighted linear units\" (2018).",
   example=("ag.nn.functional.silu(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.7311])"))
op("leaky_relu", "input, negative_slope: float = 0.01", "where(a > 0, a, a * b)", {"a": "where(a > 0, g, g * b)"}, numbers=1,
   kinds="r", node="LeakyReluBackward0", saved=("self", None, None), methods=(), namespace="nn.functional", inplace=True,
   doc="input where it is positive, else negative_slope * input.",
   example=("ag.nn.functional.leaky_relu(ag.tensor([-1.0, 2.0]))", "tensor([-0.0100,  2.0000])"))
op("gelu_erf", "input", "a * p", {"a": "g * (p + a * d)"}, let="p = normal_cdf(a); d = normal_pdf(a)", node="GeluBackward0",
   kinds="r", wide=True, public=False)
op("gelu_tanh", "input", "0.5 * a * (1 + t)",
   {"a": "g * (0.5 * (1 + t) + 0.3989422804014327 * a * (1 - t * t) * (1 + 0.134145 * a * a))"},
   let="t = tanh(0.7978845608028654 * (a + 0.044715 * a * a * a))", node="GeluBackward0", kinds="r",
   wide=True, public=False)

# not differentiable
for name, ufunc, sign, result in [
        ("eq", "equal", "==", "[False,  True, False]"), ("ne", "not_equal", "!=", "[ True, False,  True]"),
        ("lt", "less", "<", "[ True, False, False]"), ("le", "less_equal", "<=", "[ True,  True, False]"),
        ("gt", "greater", ">", "[False, False,  True]"), ("ge", "greater_equal", ">=", "[False,  True,  True]")]:
    op(name, "input, other", ufunc, result="TRUTH", without=COMPLEX if sign[0] in "<>" else None,
       doc=f"input {sign} other, a bool tensor.",
       example=(f"ag.{name}(ag.tensor([1, 2, 3]), 2)", f"tensor({result})"))
for name, result in [("logical_and", "[False, False,  True]"), ("logical_or", "[False,  True,  True]"),
                     ("logical_xor", "[False,  True, False]")]:
    op(name, "input, other", name, result="TRUTH", doc=f"{name[8:].upper()} of the truth values, a bool tensor.",
       example=(f"ag.{name}(ag.tensor([0, 1, 1]), ag.tensor([0, 0, 1]))", f"tensor({result})"))
op("logical_not", "input", "logical_not", result="TRUTH", doc="Whether each element is zero, a bool tensor.",
   example=("ag.logical_not(ag.tensor([0, 1, 2]))", "tensor([ True, False, False])"))
for name, result in [("bitwise_and", 2), ("bitwise_or", 7), ("bitwise_xor", 5)]:
    op(name, "input, other", name, doc=f"{name[8:].upper()} of the bits of integers, or of truth values.",
       example=(f"ag.{name}(ag.tensor([6]), ag.tensor([3]))", f"tensor([{result}])"))
for name, ufunc, direction, result in [("bitwise_left_shift", "left_shift", "left", "[ 4, -8]"),
                                       ("bitwise_right_shift", "right_shift", "right", "[ 0, -1]")]:
    op(name, "input, other", ufunc, doc=f"The bits of integers shifted to the {direction} by other; by more than there are, "
       "or by less than none, all of them.", example=(f"ag.{name}(ag.tensor([1, -2]), 2)", f"tensor({result})"))
op("bitwise_not", "input", "invert", doc="The bits of integers inverted; of truth values, NOT.",
   example=("ag.bitwise_not(ag.tensor([6]))", "tensor([-7])"))
for name, words, result in [
        ("isnan", "is NaN", "[False, False,  True]"), ("isinf", "is infinite", "[False,  True, False]"),
        ("isfinite", "is neither infinite nor NaN", "[ True, False, False]")]:
    op(name, "input", name, result="TRUTH", in_place=False, doc=f"Whether each element {words}, a bool tensor.",
       example=(f"ag.{name}(ag.tensor([1.0, float('inf'), float('nan')]))", f"tensor({result})"))
