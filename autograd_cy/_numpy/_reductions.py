"""NumPy's sums, means and their kin: the counterparts (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, sharing
from .._creation.filled import full_like
from .._functional import names as ops
from .._types.limits import result_type
from ._arguments import Declined, axes_of, axis_of, counterpart, floating, joined, tensor


def _cast(a: Any, dtype: Any) -> Tensor:
    return tensor(a) if dtype is None else tensor(a).to(np.dtype(dtype))


def _along(operation: Callable[..., Any], x: Tensor, axis: Any, keepdims: Any) -> Tensor:
    """Make an operation of one dimension or all take any axes."""
    if axis is None and not keepdims:
        return operation(x)
    x, axis, keepdims = _lifted(x, axis, keepdims)
    for dim in sorted(axes_of(axis, x.ndim), reverse=True):
        x = operation(x, dim, keepdim=keepdims)
    return x


def _whole(operation: Callable[..., Any], x: Tensor, axis: Any, keepdims: Any, **options: Any) -> Tensor:
    """Make an operation of several dimensions take any axes."""
    if axis is None and (not keepdims or not x.ndim) and not options:
        return operation(x)
    x, axis, keepdims = _lifted(x, axis, keepdims)
    return operation(x, axes_of(axis, x.ndim) or None, keepdim=keepdims, **options)


def _lifted(x: Tensor, axis: Any, keepdims: Any) -> tuple[Tensor, Any, bool]:
    """With an axis for what NumPy reduces along none: `axis=()`, and the axes 0 and -1 of what has no dimensions."""
    if axis == ():
        return x.unsqueeze(-1), -1, False
    if not x.ndim and axis in (0, -1, (0,), (-1,)):
        return x.reshape(1), 0, False
    return x, axis, bool(keepdims)


def _masked(x: Tensor, where: Any, neutral: Any) -> Tensor:
    return x if where is True else ops.where(tensor(where).bool(), x, neutral)


@counterpart("sum")
def _sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
         where: Any = True) -> Tensor:  # fmt: skip
    x = _masked(_cast(a, dtype), _plain(out, where), 0)
    y = _whole(ops.sum, x, axis, keepdims)
    return y if initial is None else y + initial


@counterpart("prod")
def _prod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
          where: Any = True) -> Tensor:  # fmt: skip
    y = _along(ops.prod, _masked(_cast(a, dtype), _plain(out, where), 1), axis, keepdims)
    return y if initial is None else y * initial


@counterpart("all")
def _all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Tensor:
    return _along(ops.all, _masked(tensor(a).bool(), _plain(out, where), True), axis, keepdims)


@counterpart("any")
def _any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Tensor:
    return _along(ops.any, _masked(tensor(a).bool(), _plain(out, where), False), axis, keepdims)


def _plain(out: Any, where: Any) -> Any:
    """The mask `where`. A call with `out` is declined, as a part of it could stay unwritten."""
    if out is not None:
        raise Declined
    return where


def _extreme(operation: Callable[..., Any], combine: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
                where: Any = True) -> Tensor:  # fmt: skip
        x = tensor(a)
        if not x.numel() or (_plain(out, where) is not True and initial is None):
            raise Declined
        if initial is not None and result_type(x, initial) is not x.dtype:
            raise Declined
        y = _whole(operation, _masked(x, where, initial), axis, keepdims)
        return y if initial is None else combine(y, tensor(initial).to(y.dtype))

    return extreme


_largest = counterpart("amax", "max")(_extreme(ops.amax, ops.maximum))
_smallest = counterpart("amin", "min")(_extreme(ops.amin, ops.minimum))


@counterpart("ptp")
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Tensor:
    return _largest(a, axis, out, keepdims) - _smallest(a, axis, out, keepdims)


@counterpart("mean")
def _mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Tensor:
    x = floating(_cast(a, dtype))
    if _plain(out, where) is not True:
        return _sum(x, axis, None, None, keepdims, where=where) / _count(x, axis, keepdims, where)
    return _whole(ops.mean, x, axis, keepdims)


def _count(x: Tensor, axis: Any, keepdims: Any, where: Any) -> Tensor:
    """How many elements a mask leaves."""
    return _sum(tensor(where).bool().expand(x.shape), axis, None, None, keepdims).to(x.abs().dtype)


def _variance(root: bool) -> Callable[..., Any]:
    def variance(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False, *,
                 where: Any = True, mean: Any = None, correction: Any = None) -> Tensor:  # fmt: skip
        x = floating(_cast(a, dtype))
        ddof = ddof if correction is None else correction
        if _plain(out, where) is True and mean is None and not x.dtype.is_complex:
            return _whole(ops.std if root else ops.var, x, axis, keepdims, correction=ddof)
        centre = _mean(x, axis, None, None, True, where=where) if mean is None else tensor(mean)
        squares = (x - centre).abs() ** 2
        count = _count(x, axis, keepdims, where)
        y = _sum(squares, axis, None, None, keepdims, where=where) / (count - ddof).clamp(min=0)
        return y.sqrt() if root else y

    return variance


_var = counterpart("var")(_variance(False))
_std = counterpart("std")(_variance(True))


# ------------------------------------------------------------------------------------------------------------
# without nan


@counterpart("nansum")
def _nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
            where: Any = True) -> Tensor:  # fmt: skip
    x = tensor(a)
    return _sum(_masked(x, ~x.isnan(), 0), axis, dtype, out, keepdims, initial, where)


@counterpart("nanprod")
def _nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
             where: Any = True) -> Tensor:  # fmt: skip
    x = tensor(a)
    return _prod(_masked(x, ~x.isnan(), 1), axis, dtype, out, keepdims, initial, where)


@counterpart("nanmean")
def _nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *,
             where: Any = True) -> Tensor:  # fmt: skip
    x = floating(_cast(a, dtype))
    return _mean(x, axis, None, out, keepdims, where=_there(x, where))


def _there(x: Tensor, where: Any) -> Any:
    """A mask of the elements that are not nan."""
    return ~x.isnan() if where is True else ~x.isnan() & tensor(where).bool()


def _nan_variance(variance: Callable[..., Any]) -> Callable[..., Any]:
    def without_nan(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False, *,
                    where: Any = True, mean: Any = None, correction: Any = None) -> Tensor:  # fmt: skip
        x = floating(_cast(a, dtype))
        there = _there(x, where)
        y = variance(x, axis, None, out, ddof, keepdims, where=there, mean=mean, correction=correction)
        short = _count(x, axis, keepdims, there) <= (ddof if correction is None else correction)
        return ops.where(short, float("nan"), y)

    return without_nan


counterpart("nanvar")(_nan_variance(_var))
counterpart("nanstd")(_nan_variance(_std))


def _nan_extreme(extreme: Callable[..., Any], last: float) -> Callable[..., Any]:
    def without_nan(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Tensor:
        x = tensor(a)
        if not x.dtype.is_floating_point:
            return extreme(x, axis, out, keepdims)
        y = extreme(_masked(x, ~x.isnan(), last), axis, out, keepdims)
        return ops.where(_all(x.isnan(), axis, None, keepdims), float("nan"), y)

    return without_nan


counterpart("nanmax")(_nan_extreme(_largest, float("-inf")))
counterpart("nanmin")(_nan_extreme(_smallest, float("inf")))


# ------------------------------------------------------------------------------------------------------------
# running sums


def _running(operation: Callable[..., Any], neutral: int, with_nan: bool = True) -> Callable[..., Any]:
    def running(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Tensor:
        if out is not None:
            raise Declined
        x = tensor(a)
        x = x if with_nan else _masked(x, ~x.isnan(), neutral)
        flat = axis is None or not x.ndim
        return operation(x.reshape(-1) if flat else x, 0 if flat else axis, dtype=_dtype(dtype))

    return running


def _dtype(dtype: Any) -> Any:
    return None if dtype is None else np.dtype(dtype)


counterpart("cumsum")(_running(ops.cumsum, 0))
counterpart("cumprod")(_running(ops.cumprod, 1))
counterpart("nancumsum")(_running(ops.cumsum, 0, with_nan=False))
counterpart("nancumprod")(_running(ops.cumprod, 1, with_nan=False))


def _cumulative(operation: Callable[..., Any], neutral: int) -> Callable[..., Any]:
    def cumulative(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
        x = tensor(x)
        x = x if x.ndim else x.reshape(1)
        if axis is None and x.ndim != 1:
            raise Declined
        axis = 0 if axis is None else axis
        y = operation(x, axis, dtype=_dtype(dtype))
        if not include_initial:
            return y
        shape = [1 if dim == axis_of(axis, y.ndim) else size for dim, size in enumerate(y.shape)]
        return joined([sharing(np.full(shape, neutral, y.dtype.numpy_dtype)), y], axis)

    return cumulative


_cumulative_sum = counterpart("cumulative_sum")(_cumulative(ops.cumsum, 0))
_cumulative_prod = counterpart("cumulative_prod")(_cumulative(ops.cumprod, 1))


# ------------------------------------------------------------------------------------------------------------
# means with weights, quantiles


@counterpart("average")
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    x = floating(a)
    keepdims = keepdims is True
    if weights is None:
        y = _mean(x, axis, None, None, keepdims)
        return (y, full_like(y, x.numel() / max(y.numel(), 1))) if returned else y
    w = tensor(weights)
    if w.shape != x.shape:
        if not isinstance(axis, int) or w.ndim != 1:
            raise Declined
        w = w.reshape([-1 if dim == axis % x.ndim else 1 for dim in range(x.ndim)])
    total = _sum(w.expand(x.shape), axis, None, None, keepdims)
    y = _sum(x * w, axis, None, None, keepdims) / total
    return (y, total) if returned else y


def _quantiles(scale: float, with_nan: bool) -> Callable[..., Any]:
    def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
                 keepdims: Any = False, *, weights: Any = None) -> Tensor:  # fmt: skip
        x = floating(a)
        parts = tensor(q).to(x.dtype) / scale if scale != 1 else tensor(q).to(x.dtype)
        if out is not None or weights is not None or method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            raise Declined
        if x.dtype.is_complex or parts.ndim > 1 or not x.numel():
            raise Declined
        operation = ops.quantile if with_nan else ops.nanquantile
        axes = axes_of(axis, x.ndim)
        kept = [1 if dim in axes else size for dim, size in enumerate(x.shape)]
        flat = x.movedim(axes, tuple(range(-len(axes), 0))).flatten(x.ndim - len(axes)) if axes else x.unsqueeze(-1)
        y = operation(flat.float() if x.dtype.itemsize < 4 else flat, parts.to(flat.dtype), -1, interpolation=method)
        y = y.to(x.dtype)
        return y.reshape(tuple(parts.shape) + tuple(kept)) if keepdims is True else y

    return quantile


_quantile = counterpart("quantile")(_quantiles(1, True))
_nanquantile = counterpart("nanquantile")(_quantiles(1, False))
counterpart("percentile")(_quantiles(100, True))
counterpart("nanpercentile")(_quantiles(100, False))


@counterpart("median")
def _median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Tensor:
    return _quantile(a, 0.5, axis, out, keepdims=keepdims)


@counterpart("nanmedian")
def _nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Tensor:
    return _nanquantile(a, 0.5, axis, out, keepdims=keepdims is True)


@counterpart("bincount")
def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    if weights is None:
        raise Declined
    w, where = floating(weights), tensor(x)
    length = max(int(where.max()) + 1 if where.numel() else 0, minlength)
    return sharing(np.zeros(length, w.dtype.numpy_dtype)).index_add(0, where.long(), w)
