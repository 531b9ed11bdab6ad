"""Rows of the op table: signs, rounding, trigonometry, logarithms, and what chooses and combines elements."""

import functools
import math

import numpy as np
import op_samples as samples
from op_case import ALL, BOOL, COMPLEX, FLOATS, HALF, INTS, NONZERO, POSITIVE, OpInfo, S
from op_promotion import promote
from op_samples import calls

from autograd_cy._core.arrays.dtypes import kind_of

WITHIN_ONE, BEYOND_ONE = ((-0.9, 0.9),), ((1.2, 3.0),)
NO_BOOL = INTS + HALF
REALS = {"dtypes": FLOATS}

unary = functools.partial(OpInfo, samples=samples.unary, result="float", extremes=samples.unary_extremes)
binary = functools.partial(OpInfo, samples=samples.binary, dtypes=FLOATS, extremes=samples.binary_extremes)
step = functools.partial(unary, result="first", domain=((0.1, 0.4), (-0.9, -0.6)), forward=NO_BOOL, **REALS)
classify = functools.partial(OpInfo, samples=samples.classified, dtypes=(), forward=BOOL + NO_BOOL + FLOATS, result="bool")
erfc = np.vectorize(math.erfc, otypes=[float])


def sinc(x):
    return np.where(x == 0, 1, np.sin(np.pi * x) / (np.pi * np.where(x == 0, 1, x)))


def xlogy(x, y):
    return np.where(np.isnan(y), y, np.where(x == 0, 0, x * np.log(y)))


def logaddexp(x, y):
    whole = np.iscomplexobj(x) or np.iscomplexobj(y)
    return np.log(np.exp(x) + np.exp(y)) if whole else np.logaddexp(x, y)


def logit(x, eps=None):
    x = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def angle(x):
    return np.angle(x) if np.iscomplexobj(x) else np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0))


def nan_to_num(x, nan=0.0, posinf=9.0, neginf=-9.0):
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def toward(x, other):
    """The number next to x is x to the last place but few, in any type."""
    return x + 0 * other


def lerp(x, end, weight):
    return x + weight * (end - x)


def isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.isclose(x, y, rtol, atol, equal_nan)


def rounds(make):
    yield from samples.unary(make)
    if kind_of(make.dtype) == "f":
        yield S(make.of([123.0, -456.0]), decimals=-2)


def rounds_to_decimals(make):
    yield S(make.of([1.23, -4.56, 0.0, 1e6]), decimals=1)


def triples(make):
    """Three tensors that broadcast; the last is not 0."""
    yield S(make(2, 3), make(2, 3), make(2, 3))
    yield S(make(2, 1), make(3), make())
    yield S(make(), make(2), make(2, 1))
    yield S(make(0, 2), make(2), make(2))


def combinations(make):
    yield from triples(make)
    yield S(make(2), make(2), make(2), value=3)


def lerps(make):
    yield from triples(make)
    yield S(make(2, 3), make(3), 0.25)
    yield S(make(2), make(2), 2)


def bounds(make):
    yield from samples.broadcast(make)
    if kind_of(make.dtype) != "b":
        yield S(make(2, 3), 1)


def differences(make):
    yield from samples.broadcast(make)
    yield S(make(3), 2)
    yield S(make(2, 2), make(2), alpha=2)


def close_pairs(make):
    yield S(make.of([1.0, 2.0, np.inf, np.nan]), make.of([1.0, 2.1, np.inf, np.nan]))
    yield S(make.of([1.0, 2.0, np.nan]), make.of([[1.0], [2.5]]), 0.4, 0.1, True)


def parts(make):
    """The first ones may be lengths."""
    for left, right in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2,)), ((0, 2), (2,))):
        yield S(make(*left, domain=POSITIVE), make(*right))


def replacements(make):
    yield S(make(2, 3))
    yield S(make.of([0.5, math.nan]) if kind_of(make.dtype) in "fc" else make(2))
    if kind_of(make.dtype) == "f":
        yield S(make.of([0.5, math.nan, math.inf, -math.inf]), 2.5, 1.0, -1.0)
        yield S(make.of([0.5, math.nan, math.inf, -math.inf]), posinf=7.0, neginf=1.0)


def to_complex(args):
    return np.result_type(args[0].dtype, np.complex64)


def promote_float(x):
    return np.abs(np.zeros(1, promote(x, 1.0))).dtype


def to_double(args):
    return np.dtype(complex if any(kind_of(np.asarray(x).dtype) == "c" for x in args) else float)


ROWS = [
    step("sign", lambda x: np.sign(x * 1), domain=NONZERO, forward=BOOL + NO_BOOL, extremes=samples.finite_extremes),
    step("ceil", np.ceil),
    step("floor", np.floor),
    step("trunc", np.trunc),
    OpInfo("round", np.round, rounds, extremes=rounds_to_decimals, domain=((0.1, 0.4), (-0.4, -0.1)), forward=NO_BOOL,
           result="first", **REALS),
    OpInfo("heaviside", lambda x, v: np.where(x == 0, v, x > 0), samples.broadcast, dtypes=(),
           forward=BOOL + NO_BOOL + FLOATS),
    binary("nextafter", toward, samples=samples.broadcast, forward=HALF, extremes=None),
    unary("frac", lambda x: x - np.trunc(x), result="first", domain=((0.1, 0.4), (-0.9, -0.6)), forward=HALF, **REALS),
    binary("copysign", np.copysign, samples=samples.divisions, domain=NONZERO, result="float"),
    unary("tan", np.tan, domain=((-1.2, 1.2),)),
    unary("asin", np.arcsin, domain=WITHIN_ONE),
    unary("acos", np.arccos, domain=WITHIN_ONE),
    unary("atan", np.arctan),
    binary("atan2", np.arctan2, samples=samples.broadcast, domain=NONZERO, result="float"),
    unary("sinh", np.sinh),
    unary("cosh", np.cosh),
    unary("asinh", np.arcsinh),
    unary("acosh", np.arccosh, domain=BEYOND_ONE),
    unary("atanh", np.arctanh, domain=WITHIN_ONE),
    unary("sinc", sinc, domain=NONZERO),
    binary("hypot", np.hypot, samples=samples.broadcast, forward=HALF),
    unary("deg2rad", np.deg2rad, **REALS),
    unary("rad2deg", np.rad2deg, **REALS),
    unary("expm1", np.expm1),
    unary("exp2", np.exp2),
    unary("log1p", np.log1p, domain=POSITIVE),
    unary("log2", np.log2, domain=POSITIVE),
    unary("log10", np.log10, domain=POSITIVE),
    OpInfo("ldexp", lambda x, e: x * np.exp2(e), samples.broadcast, result="float"),
    OpInfo("logaddexp", logaddexp, samples.broadcast, forward=HALF, extremes=samples.binary_extremes),
    OpInfo("frexp", np.frexp, samples.unary, dtypes=FLOATS, forward=HALF, result=("first", lambda args: np.dtype("int32"))),
    binary("logaddexp2", np.logaddexp2, samples=samples.broadcast, forward=HALF),
    binary("xlogy", xlogy, samples=samples.broadcast, domain=POSITIVE, result="float"),
    unary("erfc", erfc, **REALS),
    binary("fmax", np.fmax, samples=samples.broadcast),
    binary("fmin", np.fmin, samples=samples.broadcast),
    OpInfo("gcd", np.gcd, samples.broadcast, dtypes=(), forward=INTS),
    OpInfo("lcm", np.lcm, samples.broadcast, dtypes=(), forward=INTS),
    unary("logit", logit, samples=calls(([2, 3],), ([],), ([0, 2],), ([4], 0.3)), domain=((0.1, 0.9),), **REALS),
    unary("angle", angle, domain=NONZERO, result=lambda args: promote_float(args[0])),
    OpInfo("complex", lambda x, y: x + 1j * y, parts, dtypes=FLOATS, forward=(), result=to_complex, method=False),
    OpInfo("polar", lambda r, a: r * np.exp(1j * a), parts, dtypes=FLOATS, forward=(), result=to_complex, method=False),
    unary("conj_physical", np.conj, result="first"),
    unary("resolve_conj", np.copy, result="first", extremes=None),
    unary("resolve_neg", np.copy, result="first", extremes=None),
    unary("positive", np.copy, forward=NO_BOOL, result="first", extremes=None),
    binary("clamp_min", np.maximum, samples=bounds),
    binary("clamp_max", np.minimum, samples=bounds),
    OpInfo("lerp", lerp, lerps, forward=HALF),
    OpInfo("addcmul", lambda x, a, b, value=1: x + value * a * b, combinations, forward=NO_BOOL),
    OpInfo("addcdiv", lambda x, a, b, value=1: x + value * a / b, combinations, domain=NONZERO, forward=HALF),
    OpInfo("rsub", lambda x, y, alpha=1: y - alpha * x, differences, forward=NO_BOOL, method=False),
    OpInfo("float_power", np.power, samples.powers, domain=POSITIVE, result=to_double),
    OpInfo("fill", lambda x, value: np.full_like(x, value), calls(([2, 3], 2), ([], 1), ([0], 0)), result="first"),
    OpInfo("nan_to_num", nan_to_num, replacements, forward=BOOL + NO_BOOL + COMPLEX, result="first", **REALS),
    classify("signbit", np.signbit),
    classify("isposinf", np.isposinf),
    classify("isneginf", np.isneginf),
    classify("isreal", np.isreal, forward=ALL),
    OpInfo("isclose", isclose, close_pairs, dtypes=(), forward=ALL, result="bool"),
    OpInfo("isin", np.isin, samples.comparable, dtypes=(), forward=NO_BOOL + FLOATS, result="bool", method=False),
]
