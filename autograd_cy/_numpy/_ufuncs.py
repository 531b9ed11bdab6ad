"""NumPy's ufuncs as operations: the calls, and what `reduce`, `accumulate`, `reduceat` and `outer` make of them (facade)."""

import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import linalg, special
from .._core.graph.tensor import Tensor, sharing
from .._functional import names as ops
from .._types.limits import result_type
from ..autograd.function import Function
from . import _reductions  # noqa: F401  (declares the sums that methods of ufuncs are)
from ._arguments import COUNTERPARTS, Declined, axis_of, tensor

# those that have another name here
_RENAMED = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "degrees": "rad2deg", "divide": "div",
    "equal": "eq", "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne", "power": "pow",
    "radians": "deg2rad", "right_shift": "bitwise_right_shift", "rint": "round", "subtract": "sub",
}  # fmt: skip
_TENSORS_ONLY = {"gcd", "heaviside", "lcm", "logaddexp", "nextafter"}  # operations that take no scalars
_LOGICAL = {"logical_and", "logical_or", "logical_xor", "logical_not"}
_OF_ONE_TYPE = {  # their result's type is fixed, not `dtype=`
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "isnan", "isinf", "isfinite", "signbit", "ldexp",
    "frexp", *_LOGICAL,
}  # fmt: skip

# functions of NumPy that are the same as a method, with axis=0 for the default
_REDUCED = {
    np.add: "sum", np.multiply: "prod", np.maximum: "amax", np.minimum: "amin", np.logical_and: "all", np.logical_or: "any",
}
_ACCUMULATED = {np.add: ops.cumsum, np.multiply: ops.cumprod, np.logaddexp: ops.logcumsumexp}


class _Cbrt(Function):
    """NumPy's cube root. A power x**(1/3) would lose digits, and is NaN for negative numbers."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return sharing(np.asarray(np.cbrt(x.numpy(force=True))))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return g / (3 * y * y)

    jvp = backward

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int, ...], x: Tensor) -> tuple[Tensor, int]:
        return _Cbrt.apply(x), in_dims[0]


def _cbrt(x: Tensor) -> Any:
    return _Cbrt.apply(x if x.dtype.is_floating_point else x.double())


def sign(x: Tensor) -> Tensor:
    """The sign, nan of nan."""
    y = ops.sgn(x)
    return ops.where(ops.isnan(x), float("nan"), y) if x.dtype.is_floating_point or x.dtype.is_complex else y


def _divmod(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    return ops.floor_divide(x, y), ops.remainder(x, y)


def _modf(x: Tensor) -> tuple[Tensor, Tensor]:
    return ops.where(ops.isinf(x), 0.0, ops.fmod(x, 1.0)), ops.trunc(x)


def _matvec(x: Tensor, y: Tensor) -> Tensor:
    return ops.matmul(x, y.unsqueeze(-1)).squeeze(-1)


def _vecmat(x: Tensor, y: Tensor) -> Tensor:
    return ops.matmul(x.conj().unsqueeze(-2), y).squeeze(-2)


_COMPOSED: dict[str, Callable[..., Any]] = {
    "cbrt": _cbrt, "sign": sign, "divmod": _divmod, "modf": _modf, "matvec": _matvec, "vecmat": _vecmat,
    "vecdot": linalg.vecdot,
}  # fmt: skip


@functools.lru_cache(256)
def call_of(ufunc: Any) -> Callable[..., Any] | None:
    """The operation for a ufunc of NumPy or scipy.special; None for any other, whatever its name."""
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        operation = _COMPOSED.get(name) or getattr(ops, _RENAMED.get(name, name), None)
        return _with_tensors(operation) if name in _TENSORS_ONLY and operation is not None else operation
    scipy_special = sys.modules.get("scipy.special")
    if scipy_special is not None and getattr(scipy_special, name, None) is ufunc:
        return getattr(special, name, None)
    return None


def operand(value: Any) -> Any:
    """An operand of a ufunc as operations take it: tensors and numbers as they are, anything else as a tensor."""
    if type(value) is np.ndarray:
        return sharing(value)
    return value if isinstance(value, (Tensor, int, float, complex, np.generic)) else tensor(value)


def _with_tensors(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operation take numbers, in the type that they get beside the other operand."""

    def with_tensors(x: Any, y: Any, **kwargs: Any) -> Any:
        wanted = result_type(*(tensor(v) if isinstance(v, np.generic) else v for v in (x, y)))
        return operation(*(tensor(v).to(wanted) for v in (x, y)), **kwargs)

    return with_tensors


def call(ufunc: Any, inputs: tuple[Any, ...], *, dtype: Any = None, axis: Any = None, where: Any = None, out: Any = None,
          **others: Any) -> Any:  # fmt: skip
    """The call of a ufunc, with keywords."""
    operation = call_of(ufunc)
    if operation is None or others or (axis is not None and ufunc is not np.vecdot):
        raise Declined
    operands = [operand(x) for x in inputs]
    if dtype is not None:
        if ufunc.__name__ in _OF_ONE_TYPE or isinstance(dtype, tuple):
            raise Declined
        operands = [tensor(x).to(np.dtype(dtype)) for x in operands]
    options = {} if axis is None else {"dim": axis}
    if out is None and where is None:
        return operation(*operands, **options)
    if out is None or ufunc.nout > 1:
        raise Declined
    if where is not None:
        return out.copy_(ops.where(tensor(where).bool(), operation(*operands, **options), out))
    if ufunc.__name__ in _COMPOSED:
        raise Declined
    return operation(*operands, **options, out=out)


# ------------------------------------------------------------------------------------------------------------
# methods


def _reduce(ufunc: Any, a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
            initial: Any = None, where: Any = None) -> Tensor:  # fmt: skip
    if out is not None:
        raise Declined
    options = {"axis": axis, "dtype": dtype, "keepdims": keepdims, "initial": initial, "where": where}
    options = {key: value for key, value in options.items() if value is not None or key == "axis"}
    name = _REDUCED.get(ufunc)
    if name is not None:
        found = COUNTERPARTS[name]
        if not options.keys() <= set(found.__code__.co_varnames):
            raise Declined
        return found(a, **options)
    x, axis = _folded(ufunc, a, axis, dtype)
    if where is not None:
        raise Declined
    if ufunc is np.logaddexp and initial is None:
        return ops.logsumexp(x, axis, bool(keepdims))
    rows = list(x.unbind(axis))
    rows = rows if initial is None else [operand(initial), *rows]
    if len(rows) < 2 and (not rows or initial is not None):
        raise Declined
    y = functools.reduce(_operation(ufunc), rows)
    return y.unsqueeze(axis) if keepdims else y


def _accumulate(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    x, axis = _folded(ufunc, array, axis, dtype)
    if ufunc in _ACCUMULATED:
        return _ACCUMULATED[ufunc](x, axis)
    if not x.shape[axis]:
        raise Declined
    return ops.stack(list(itertools.accumulate(x.unbind(axis), _operation(ufunc))), axis)


def _reduceat(ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    x, axis = _folded(ufunc, array, axis, dtype)
    starts = [int(i) for i in np.asarray(indices)]
    ends = [*starts[1:], x.shape[axis]]
    parts = [x.narrow(axis, a, max(b - a, 1)) for a, b in zip(starts, ends, strict=True)]
    return ops.stack([_reduce(ufunc, part, axis) for part in parts], axis)


def _outer(ufunc: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    x, y = tensor(a), tensor(b)
    return call(ufunc, (x.reshape(tuple(x.shape) + (1,) * y.ndim), y), **kwargs)


def _folded(ufunc: Any, a: Any, axis: Any, dtype: Any) -> tuple[Tensor, int]:
    """The tensor and the one axis that a method of a binary ufunc goes along."""
    x = tensor(a)
    if isinstance(axis, tuple) and len(axis) == 1:
        axis = axis[0]
    if axis is None and x.ndim == 1:
        axis = 0
    if axis is None or isinstance(axis, tuple) or ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        raise Declined
    _operation(ufunc)
    if ufunc.__name__ in _LOGICAL:
        x = x.bool()
    return x if dtype is None else x.to(np.dtype(dtype)), axis_of(axis, x.ndim)


def _operation(ufunc: Any) -> Callable[..., Any]:
    operation = call_of(ufunc)
    if operation is None:
        raise Declined
    return operation


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat, "outer": _outer,
}  # fmt: skip
