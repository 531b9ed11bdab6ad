"""The elementwise functions of the Array API standard (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._functional import names as ops
from .._numpy import _ufuncs
from ._promotion import binary, promoted, unary

abs = unary(ops.abs, "abs")
acos = unary(ops.acos, "acos")
acosh = unary(ops.acosh, "acosh")
asin = unary(ops.asin, "asin")
asinh = unary(ops.asinh, "asinh")
atan = unary(ops.atan, "atan")
atanh = unary(ops.atanh, "atanh")
bitwise_invert = unary(ops.bitwise_not, "bitwise_invert")
ceil = unary(ops.ceil, "ceil")
conj = unary(ops.conj, "conj")
cos = unary(ops.cos, "cos")
cosh = unary(ops.cosh, "cosh")
exp = unary(ops.exp, "exp")
expm1 = unary(ops.expm1, "expm1")
floor = unary(ops.floor, "floor")
imag = unary(ops.imag, "imag")
isfinite = unary(ops.isfinite, "isfinite")
isinf = unary(ops.isinf, "isinf")
isnan = unary(ops.isnan, "isnan")
log = unary(ops.log, "log")
log10 = unary(ops.log10, "log10")
log1p = unary(ops.log1p, "log1p")
log2 = unary(ops.log2, "log2")
logical_not = unary(ops.logical_not, "logical_not")
negative = unary(ops.neg, "negative")
positive = unary(ops.positive, "positive")
real = unary(ops.real, "real")
reciprocal = unary(ops.reciprocal, "reciprocal")
sign = unary(_ufuncs.sign, "sign")
signbit = unary(ops.signbit, "signbit")
sin = unary(ops.sin, "sin")
sinh = unary(ops.sinh, "sinh")
sqrt = unary(ops.sqrt, "sqrt")
square = unary(ops.square, "square")
tan = unary(ops.tan, "tan")
tanh = unary(ops.tanh, "tanh")
trunc = unary(ops.trunc, "trunc")

add = binary(ops.add, "add")
atan2 = binary(ops.atan2, "atan2")
bitwise_and = binary(ops.bitwise_and, "bitwise_and")
bitwise_left_shift = binary(ops.bitwise_left_shift, "bitwise_left_shift")
bitwise_or = binary(ops.bitwise_or, "bitwise_or")
bitwise_right_shift = binary(ops.bitwise_right_shift, "bitwise_right_shift")
bitwise_xor = binary(ops.bitwise_xor, "bitwise_xor")
copysign = binary(ops.copysign, "copysign")
divide = binary(ops.div, "divide")
equal = binary(ops.eq, "equal")
floor_divide = binary(ops.floor_divide, "floor_divide")
greater = binary(ops.gt, "greater")
greater_equal = binary(ops.ge, "greater_equal")
hypot = binary(ops.hypot, "hypot")
less = binary(ops.lt, "less")
less_equal = binary(ops.le, "less_equal")
logaddexp = binary(ops.logaddexp, "logaddexp")
logical_and = binary(ops.logical_and, "logical_and")
logical_or = binary(ops.logical_or, "logical_or")
logical_xor = binary(ops.logical_xor, "logical_xor")
maximum = binary(ops.maximum, "maximum")
minimum = binary(ops.minimum, "minimum")
multiply = binary(ops.mul, "multiply")
nextafter = binary(ops.nextafter, "nextafter")
not_equal = binary(ops.ne, "not_equal")
pow = binary(ops.pow, "pow")
remainder = binary(ops.remainder, "remainder")
subtract = binary(ops.sub, "subtract")


def _round(x: Tensor) -> Tensor:
    return ops.complex(ops.round(ops.real(x)), ops.round(ops.imag(x))) if x.dtype.is_complex else ops.round(x)


round = unary(_round, "round")


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """clip(x, /, min=None, max=None): the elements within bounds, numbers or arrays; in the type of x."""
    bounds = [b if b is None else promoted(x, b)[1].to(x.dtype) for b in (min, max)]
    return x.clone() if bounds == [None, None] else x.clamp(*bounds)
