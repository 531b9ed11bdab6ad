"""The elementwise operations of the op table with exact references: what tests/ops/test_precision.py measures.

A Precise row says what an operation computes, in the functions of precision_numbers, and where. An operation whose arguments
choose between formulas has a row for each of these.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import precision_numbers as n
from mpmath import mp
from precision_numbers import constant, hyper

import autograd_cy as ag
from autograd_cy._core.ops.operations import OPS

F = "nn.functional."


@dataclass(frozen=True)
class Precise:
    """What one call of an operation computes.

    `key` is the operation's in the table of operations, `variant` tells rows of one operation apart. `reference` takes as many
    numbers as the operation tensors, and follows its definition, with the clamps and thresholds that belong to it. `call` is
    the operation, or what calls it. `where` holds within the domain (None: wherever the reference is defined), off kinks.
    Derivatives are compared for the inputs `wrt`, up to `order`, by forward mode, too, unless that is refused. `digits` is the
    working precision of a reference that needs no more for large and small inputs.
    """

    key: str
    reference: Callable
    call: Callable
    variant: str = ""
    where: Callable | None = None
    wrt: tuple[int, ...] = ()
    order: int = 2
    forward: bool = True
    digits: int | None = None

    @property
    def name(self) -> str:
        return f"{self.key} ({self.variant})" if self.variant else self.key

    @property
    def inputs(self) -> int:
        return inputs_of(self.reference)


def inputs_of(reference) -> int:
    """How many numbers a reference takes: its parameters without a default."""
    return sum(p.default is p.empty for p in inspect.signature(reference).parameters.values())


def row(key, reference, where=None, call=None, variant="", values_alone=False, **columns):
    if "wrt" not in columns:
        columns["wrt"] = () if values_alone else tuple(range(inputs_of(reference)))
    return Precise(key, reference, call or OPS[key].function, variant, where, **columns)


def with_arguments(key, *args, **kwargs):
    return lambda *xs: OPS[key].function(*xs, *args, **kwargs)


def variant(key, named, reference, where=None, *args, **kwargs):
    """A row for a call with arguments besides the tensors."""
    return row(key, reference, where, with_arguments(key, *args, **kwargs), named)


def positive(*xs):
    return all(x > 0 for x in xs)


def nonzero(*xs):
    return all(x != 0 for x in xs)


def within_one(x):
    return abs(x) < 1


def different(a, b):
    return a != b


def moderate(x):
    return 1e-30 < abs(x) < 1e4


def moderate_positive(*xs):
    return all(1e-30 < x < 1e4 for x in xs)


floor, trunc = constant(mp.floor), constant(lambda x: mp.floor(x) if x > 0 else mp.ceil(x))
sign = constant(mp.sign)


def whole(*xs):
    """Where steps stand is left to other tests."""
    return all(x != round(x) and abs(x) < 1e15 for x in xs)


def quotient_within(low, high):
    """Of operands whose quotient is not so large that the nearest number to it may be another integer."""
    return lambda a, b: b != 0 and low < abs(a / b) < high and abs(a / b) % 1 != 0


def xlogy(x, y):
    return hyper(0) if hyper(x).v == 0 else x * n.log(y)


def sinc(x):
    return n.sin(mp.pi * x) / (mp.pi * x)


def logaddexp(a, b):
    return n.softplus(b - a) + a if a > b else n.softplus(a - b) + b


def logaddexp2(a, b):
    return logaddexp(a * mp.log(2), b * mp.log(2)) / mp.log(2)


def logit(x):
    return n.log(x) - n.log1p(-x)


BASIC = [
    row("add", lambda a, b: a + b),
    variant("add", "alpha=0.375", lambda a, b: a + 0.375 * b, None, alpha=0.375),
    row("sub", lambda a, b: a - b),
    variant("sub", "alpha=0.375", lambda a, b: a - 0.375 * b, None, alpha=0.375),
    row("rsub", lambda a, b: b - a),
    variant("rsub", "number", lambda a: 2.5 - a, None, 2.5),
    row("mul", lambda a, b: a * b),
    row("div", lambda a, b: a / b, nonzero),
    variant("div", "floor", lambda a, b: floor(a / b), quotient_within(0, 1e6), rounding_mode="floor"),
    variant("div", "trunc", lambda a, b: trunc(a / b), quotient_within(0, 1e6), rounding_mode="trunc"),
    row("floor_divide", lambda a, b: floor(a / b), quotient_within(0, 1e6), values_alone=True),
    row("remainder", lambda a, b: a - b * floor(a / b), quotient_within(0, 1e6)),
    variant("remainder", "number", lambda a: a - 2.5 * floor(a / 2.5), None, 2.5),
    row("fmod", lambda a, b: a - b * trunc(a / b), quotient_within(0, 1e6)),
    variant("fmod", "number", lambda a: a - 2.5 * trunc(a / 2.5), None, 2.5),
    row("pow", n.power, lambda a, b: a > 0),
    *[
        variant("pow", f"exponent {e}", lambda a, e=e: n.power(a, e), positive if e % 1 else nonzero, e)
        for e in (0, 1, 2, 3, -1, 7, 0.5, -0.5, 1.5, 2.75, -0.375)
    ],
    row("pow", lambda b: n.power(2.5, b), None, lambda b: ag.pow(2.5, b), "base 2.5"),
    row("float_power", n.power, lambda a, b: a > 0),
    row("square", lambda a: a * a),
    row("neg", lambda a: -a),
    row("positive", lambda a: a),
    row("abs", abs, nonzero),
    row("sgn", sign, nonzero),
    row("sign", sign, nonzero),
    row("reciprocal", lambda a: 1 / a),
    *[row(key, lambda a: a) for key in ("conj", "conj_physical", "resolve_conj", "resolve_neg")],
    row("real", lambda a: a),
    row("angle", constant(lambda a: mp.pi if a < 0 else 0), nonzero),
    row("complex", lambda a, b: a, None, lambda a, b: ag.complex(a, b).real, "real part"),
    row("complex", lambda a, b: b, None, lambda a, b: ag.complex(a, b).imag, "imaginary part"),
    row("polar", lambda r, t: r * n.cos(t), lambda r, t: r >= 0, lambda r, t: ag.polar(r, t).real, "real part"),
    row("polar", lambda r, t: r * n.sin(t), lambda r, t: r >= 0, lambda r, t: ag.polar(r, t).imag, "imaginary part"),
    row("ceil", constant(mp.ceil), whole),
    row("floor", floor, whole),
    row("trunc", trunc, whole),
    row("round", constant(mp.nint), whole),
    row("frac", lambda a: a - trunc(a), whole),
    row("copysign", lambda a, b: abs(a) * sign(b), nonzero),
    row("nextafter", lambda a, b: a, lambda a, b: a != b and abs(a) > 1e-37),
    row("heaviside", lambda a, b: constant(lambda x, v: v if x == 0 else x > 0)(a, b), values_alone=True),
    row("frexp", lambda a: a / mp.ldexp(1, mp.frexp(hyper(a).v)[1]), None, lambda a: ag.frexp(a).mantissa),
    row("ldexp", lambda a, b: a * n.power(2, b)),
    row("maximum", n.maximum, different),
    row("minimum", n.minimum, different),
    row("fmax", n.maximum, different),
    row("fmin", n.minimum, different),
    row("where", lambda a, b: a if hyper(a) > b else b, None, lambda a, b: ag.where(a.detach() > b.detach(), a, b)),
    variant("clamp", "numbers", lambda a: n.maximum(n.minimum(a, 2.5), -0.25), None, -0.25, 2.5),
    row("clamp", lambda a, b: n.maximum(a, b), different, variant="min"),
    row("clamp", lambda a, b: n.minimum(a, b), different, lambda a, b: ag.clamp(a, max=b), "max"),
    row("clamp", lambda a, b: n.minimum(n.maximum(a, b), b + 1), lambda a, b: a - b not in (0, 1) and abs(b) < 1e6,
        lambda a, b: ag.clamp(a, b, b + 1), "tensors"),
    row("clamp_min", n.maximum, different),
    variant("clamp_min", "number", lambda a: n.maximum(a, 0.25), None, 0.25),
    row("clamp_max", n.minimum, different),
    variant("clamp_max", "number", lambda a: n.minimum(a, 0.25), None, 0.25),
    variant("nan_to_num", "", lambda a: a, None),
    variant("lerp", "weight 0.375", lambda a, b: a + 0.375 * (b - a), None, 0.375),
    row("lerp", lambda a, b: a + b * (2.5 - a), None, lambda a, b: ag.lerp(a, ag.full_like(a, 2.5), b), "towards 2.5"),
    row("addcmul", lambda a, b: 1.5 + a * b, None, lambda a, b: ag.addcmul(ag.full_like(a, 1.5), a, b)),
    row("addcdiv", lambda a, b: 1.5 + a / b, nonzero, lambda a, b: ag.addcdiv(ag.full_like(a, 1.5), a, b)),
    row("deg2rad", lambda a: a * (mp.pi / 180)),
    row("rad2deg", lambda a: a * (180 / mp.pi)),
]

TRANSCENDENTAL = [
    row("exp", n.exp),
    row("exp2", lambda a: n.power(2, a)),
    row("expm1", n.expm1),
    row("log", n.log),
    row("log1p", n.log1p),
    row("log2", lambda a: n.log(a) / mp.log(2)),
    row("log10", lambda a: n.log(a) / mp.log(10)),
    row("sqrt", n.sqrt, positive),
    row("rsqrt", lambda a: 1 / n.sqrt(a), positive),
    row("sin", n.sin),
    row("cos", n.cos),
    row("tan", lambda a: n.sin(a) / n.cos(a)),
    row("sinc", sinc, nonzero),
    row("asin", n.asin, within_one),
    row("acos", n.acos, within_one),
    row("atan", n.atan),
    row("atan2", lambda a, b: n.atan(a / b) + (0 if b > 0 else mp.pi * mp.sign(hyper(a).v)), nonzero),
    row("sinh", n.sinh),
    row("cosh", n.cosh),
    row("tanh", n.tanh),
    row("asinh", n.asinh),
    row("acosh", n.acosh, lambda a: a > 1),
    row("atanh", n.atanh, within_one),
    row("hypot", lambda a, b: n.sqrt(a * a + b * b)),
    row("logaddexp", logaddexp),
    row("logaddexp2", logaddexp2),
    row("xlogy", xlogy, lambda a, b: b > 0),
    row("logit", logit, lambda a: 0 < a < 1),
    variant("logit", "eps=1e-6", logit, lambda a: 1e-6 < a < 1 - 1e-6, 1e-6),
    row("erf", n.erf),
    row("erfc", n.erfc),
    row("erfinv", n.erfinv, within_one, digits=50),
    row("sigmoid", n.sigmoid),
]
