"""Reductions of segments: neighbours along a dimension (facade). Imported when asked for."""

import math
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.runtime.entry import public

# Of each reduction, index_reduce()'s name of it, and what it begins with.
_REDUCTIONS = {
    "sum": ("", 0.0), "mean": ("", 0.0), "max": ("amax", -math.inf), "min": ("amin", math.inf), "prod": ("prod", 1.0),
}  # fmt: skip


@public
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """``segment_reduce(data, reduce, lengths=n)`` is the 'sum', 'mean', 'max', 'min' or 'prod' of segments along ``axis``.

    `lengths` says how long each segment is, or `offsets` where each one begins and the last one ends; both may have the
    dimensions before axis, too. With `initial` a segment begins with that number. All elements must be in a segment,
    unless it is `unsafe`.

    >>> import autograd_cy as ag
    >>> ag.segment_reduce(ag.tensor([1.0, 2.0, 3.0]), "sum", lengths=ag.tensor([2, 1]))
    tensor([3., 3.])
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"segment_reduce(): argument 'data' (position 1) must be Tensor, not {type(data).__name__}")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not data.is_floating_point():
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for {data.dtype}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if not -data.ndim <= axis < data.ndim:
        bounds = f"[{-data.ndim}, {data.ndim - 1}]"
        raise IndexError(f"Dimension out of range (expected to be in range of {bounds}, but got {axis})")
    starts, sizes = _bounds(data, lengths, offsets, axis % data.ndim, unsafe)
    method, identity = _REDUCTIONS[reduce]
    kept, segments = _places(starts, sizes, data.shape[sizes.ndim - 1])
    rows = data.flatten(0, sizes.ndim - 1)
    rows = rows if len(kept) == len(rows) else rows.index_select(0, from_array(kept))
    start = rows.new_full((sizes.size, *rows.shape[1:]), identity if initial is None else initial)
    where = from_array(segments)
    found = start.index_reduce(0, where, rows, method) if method else start.index_add(0, where, rows)
    if reduce == "mean":
        counts = sizes if initial is None else np.maximum(sizes, 1)
        found = found / from_array(counts.reshape(-1, *(1,) * (rows.ndim - 1)))
    return found.reshape(*sizes.shape, *rows.shape[1:])


def _bounds(data: Tensor, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where each segment begins, and how long it is, checked."""
    given = offsets if lengths is None else lengths
    name = "offsets" if lengths is None else "lengths"
    if not isinstance(given, Tensor):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    sizes = array_of(given) if lengths is not None else np.diff(array_of(given), axis=-1)
    if sizes.dtype.kind != "i":
        raise NotImplementedError(f"\"_segment_reduce_{name}_cpu_kernel1\" not implemented for {given.dtype}")
    if axis != sizes.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if sizes.shape[:-1] != data.shape[:axis]:
        before = list(data.shape[:axis])
        raise RuntimeError(f"segment_reduce(): Expected {name} to have the sizes of data before axis: {before}")
    if sizes.size and sizes.min() < 0:
        raise RuntimeError("lengths contains negative value!")
    length = data.shape[axis]
    starts = array_of(offsets)[..., :-1] if lengths is None else np.cumsum(sizes, -1) - sizes
    if (sizes.sum(-1) != length).any() if not unsafe else (starts + sizes > length).any() or (starts < 0).any():
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe. "
            f"(That is {length}.)"
        )
    return starts, sizes


def _places(starts: np.ndarray, sizes: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the rows that are in a segment, and the numbers of those segments, if all dimensions to axis are one."""
    segments = np.repeat(np.arange(sizes.size), sizes.reshape(-1))
    starts = (starts + length * np.arange(math.prod(sizes.shape[:-1])).reshape(*sizes.shape[:-1], 1)).reshape(-1)
    before = np.cumsum(sizes.reshape(-1)) - sizes.reshape(-1)
    return np.arange(len(segments)) + (starts - before)[segments], segments
