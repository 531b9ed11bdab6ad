"""NumPy's functions that pick, sort and put elements: the counterparts (facade).

Many only move elements. They are called on the positions of the elements instead, and the result has the elements at
these positions (`_at`): all their options work, and the gradient is the gradient of indexing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, sharing
from .._functional import names as ops
from ._arguments import Declined, any_in, array, axis_of, counterpart, joined, tensor


def _positions(x: Tensor) -> np.ndarray:
    return np.arange(x.numel()).reshape(x.shape)


def _at(x: Tensor, positions: np.ndarray) -> Tensor:
    """The elements at positions."""
    return x.reshape(-1)[sharing(np.array(positions, np.int64))]


@counterpart("delete")
def _delete(arr: Any, obj: Any, axis: Any = None) -> Tensor:
    x = tensor(arr)
    return _at(x, np.delete(_positions(x), array(obj), axis))


@counterpart("resize")
def _resize(a: Any, new_shape: Any) -> Tensor:
    x = tensor(a)
    if not x.numel():
        raise Declined
    return _at(x, np.resize(_positions(x), new_shape))


@counterpart("trim_zeros")
def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Tensor:
    x = tensor(filt)
    there = np.argwhere(array(x) != 0)
    if not len(there):
        raise Declined
    first, last = there.min(0), there.max(0) + 1
    axes = range(x.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    front, back = "f" in trim.lower(), "b" in trim.lower()
    starts = [first[dim] if front and dim in axes else None for dim in range(x.ndim)]
    ends = [last[dim] if back and dim in axes else None for dim in range(x.ndim)]
    return x[tuple(map(slice, starts, ends))]


@counterpart("take")
def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Tensor:
    if out is not None:
        raise Declined
    x = tensor(a)
    return _at(x, np.take(_positions(x), array(indices), axis, mode=mode))


@counterpart("take_along_axis")
def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Tensor:
    x = tensor(arr)
    return _at(x, np.take_along_axis(_positions(x), array(indices), axis))


@counterpart("compress")
def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    x = tensor(a)
    return _at(x, np.compress(array(condition), _positions(x), axis))


@counterpart("extract")
def _extract(condition: Any, arr: Any) -> Tensor:
    x = tensor(arr)
    return _at(x, np.extract(array(condition), _positions(x)))


@counterpart("stride_tricks.sliding_window_view")
def _sliding_window_view(x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False,
                         writeable: bool = False) -> Tensor:  # fmt: skip
    y = tensor(x)
    return _at(y, np.lib.stride_tricks.sliding_window_view(_positions(y), window_shape, axis))


@counterpart("insert")
def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Tensor:
    x = tensor(arr)
    put = tensor(values).to(x.dtype)
    positions = np.insert(_positions(x), array(obj), x.numel() + _positions(put), axis)
    return _at(joined([x, put], None), positions)


@counterpart("pad")
def _pad(array: Any, pad_width: Any, mode: Any = "constant", *, constant_values: Any = 0) -> Tensor:
    x = tensor(array)
    if mode == "constant":
        if isinstance(constant_values, (list, tuple, dict)):
            raise Declined
        filler = tensor(constant_values).to(x.dtype).reshape(-1)
        if filler.numel() != 1:
            raise Declined
        return _at(joined([x, filler], None), np.pad(_positions(x), pad_width, constant_values=x.numel()))
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise Declined
    return _at(x, np.pad(_positions(x), pad_width, mode))


@counterpart("choose")
def _choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Tensor:
    if out is not None:
        raise Declined
    tensors = list(choices.unbind(0)) if isinstance(choices, Tensor) else [tensor(x) for x in choices]
    positions: Any = []
    start = 0
    for x in tensors:
        positions.append(start + _positions(x))
        start += x.numel()
    return _at(joined(tensors, None), np.choose(array(a), positions, mode=mode))


@counterpart("select")
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    if len(condlist) != len(choicelist) or not condlist:
        raise Declined
    y: Any = _value(default)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        y = ops.where(tensor(condition).bool(), _value(choice), y)
    return y


def _value(value: Any) -> Any:
    return value if isinstance(value, (int, float, complex)) else tensor(value)


@counterpart("where")
def _where(condition: Any, /, *values: Any) -> Any:
    if not values:
        return tensor(condition).nonzero(as_tuple=True)
    if len(values) != 2:
        raise ValueError("either both or neither of x and y should be given")
    x, y = map(_value, values)
    return ops.where(tensor(condition).bool(), x, y)


@counterpart("piecewise")
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    x = tensor(x)
    masks = condlist if isinstance(condlist, (list, tuple)) and np.ndim(array(condlist[0])) == x.ndim else [condlist]
    masks = [tensor(mask).bool() for mask in masks]
    if len(funclist) == len(masks) + 1:
        rest = ~masks[0]
        for mask in masks[1:]:
            rest = rest & ~mask
        masks.append(rest)
    if len(funclist) != len(masks):
        raise ValueError(f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected")
    y = sharing(np.zeros(x.shape, x.dtype.numpy_dtype))
    for mask, function in zip(masks, funclist, strict=True):
        picked = x[mask]
        values = function(picked, *args, **kw) if callable(function) else function
        if picked.numel():
            values = tensor(values).to(x.dtype)
            y = ops.masked_scatter(y, mask, values.expand(picked.shape).contiguous())
    return y


# ------------------------------------------------------------------------------------------------------------
# in order


@counterpart("sort")
def _sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    x = tensor(a)
    if order is not None or x.dtype.is_complex:
        raise Declined
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis_of(axis, x.ndim))
    return ops.sort(x, axis, stable=True)[0]


@counterpart("partition")
def _partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Tensor:
    x = tensor(a)
    if order is not None:
        raise Declined
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis_of(axis, x.ndim))
    return _take_along_axis(x, np.argpartition(array(x), array(kth), axis, kind), axis)


@counterpart("unique")
def _unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
            axis: Any = None, *, equal_nan: bool = True, sorted: bool = True) -> Any:  # fmt: skip
    x = tensor(ar)
    find: Callable[..., Any] = np.unique
    _, index, *others = find(array(x), True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    picked = _at(x, index) if axis is None else ops.index_select(x, axis, sharing(index))
    others = [index, *others] if return_index else others
    return (picked, *others) if others else picked


@counterpart("unique_values")
def _unique_values(x: Any, /) -> Tensor:
    return _unique(x, equal_nan=False)


def _unique_named(name: str) -> None:
    function = getattr(np, name)

    @counterpart(name)
    def unique(x: Any, /) -> Any:
        return function(array(x))._replace(values=_unique_values(x))


for _name in ("unique_all", "unique_counts", "unique_inverse"):
    _unique_named(_name)


@counterpart("union1d")
def _union1d(ar1: Any, ar2: Any) -> Tensor:
    return _unique(joined([tensor(ar1), tensor(ar2)], None))


@counterpart("setdiff1d")
def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    x = tensor(ar1).reshape(-1) if assume_unique else _unique(ar1)
    return _at(x, np.flatnonzero(~np.isin(array(x), array(ar2), assume_unique=assume_unique)))


@counterpart("intersect1d")
def _intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    x = tensor(ar1)
    _, first, second = np.intersect1d(array(x), array(ar2), assume_unique, return_indices=True)
    picked = _at(x, first)
    return (picked, first, second) if return_indices else picked


# ------------------------------------------------------------------------------------------------------------
# in place


@counterpart("copyto")
def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, Tensor) or casting != "same_kind":
        raise Declined
    value = tensor(src)
    if not np.can_cast(value.dtype.numpy_dtype, dst.dtype.numpy_dtype, casting):
        raise TypeError(f"Cannot cast array data from {value.dtype} to {dst.dtype} according to the rule 'same_kind'")
    dst.copy_(value if where is True else ops.where(tensor(where).bool(), value.to(dst.dtype), dst))


@counterpart("apply_along_axis")
def _apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    x = tensor(arr)
    axis = axis_of(axis, x.ndim)
    rows = ops.movedim(x, axis, -1)
    if not x.numel():
        raise Declined
    made = [tensor(func1d(row, *args, **kwargs)) for row in rows.reshape(-1, x.shape[axis]).unbind(0)]
    if not any_in(Tensor, made):
        raise Declined
    whole = ops.stack(made).reshape(tuple(rows.shape[:-1]) + tuple(made[0].shape))
    new = tuple(range(axis, axis + made[0].ndim))
    return ops.movedim(whole, tuple(range(x.ndim - 1, whole.ndim)), new) if new else whole


@counterpart("apply_over_axes")
def _apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    x = tensor(a)
    for axis in np.atleast_1d(axes):
        dim = axis_of(int(axis), tensor(a).ndim)
        y = func(x, dim)
        x = y if y.ndim == x.ndim else y.unsqueeze(dim)
    return x
