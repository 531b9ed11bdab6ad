"""NumPy's functions that join tensors and split them: the counterparts (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._functional import names as ops
from ._arguments import Declined, common, counterpart, joined, tensor
from ._shapes import _broadcast_arrays


def _several(arrays: Any, dtype: Any) -> list[Tensor]:
    tensors = [tensor(x) for x in arrays]
    if not tensors:
        raise Declined
    return common(tensors) if dtype is None else [x.to(np.dtype(dtype)) for x in tensors]


@counterpart("concatenate", "concat")
def _concatenate(arrays: Any, /, axis: int | None = 0, out: Any = None, *, dtype: Any = None) -> Tensor:
    tensors = _several(arrays, dtype)
    if out is not None or (axis is not None and any(not x.ndim for x in tensors)):
        raise Declined
    return joined(tensors, axis)


@counterpart("stack")
def _stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    return ops.stack(_several(arrays, dtype), axis)


@counterpart("vstack")
def _vstack(tup: Any, *, dtype: Any = None) -> Tensor:
    return ops.vstack(_several(tup, dtype))


@counterpart("hstack")
def _hstack(tup: Any, *, dtype: Any = None) -> Tensor:
    return ops.hstack(_several(tup, dtype))


@counterpart("dstack")
def _dstack(tup: Any) -> Tensor:
    return ops.dstack(_several(tup, None))


@counterpart("column_stack")
def _column_stack(tup: Any) -> Tensor:
    return ops.column_stack(_several(tup, None))


@counterpart("append")
def _append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    return joined([tensor(arr), tensor(values)], axis)


@counterpart("block")
def _block(arrays: Any) -> Tensor:
    depth = _depth(arrays)
    ndim = max(depth, max(_ranks(arrays)))
    return _joined_block(arrays, depth, ndim)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) and arrays else 0


def _ranks(arrays: Any) -> list[int]:
    return [rank for x in arrays for rank in _ranks(x)] if isinstance(arrays, list) else [tensor(arrays).ndim]


def _joined_block(arrays: Any, depth: int, ndim: int) -> Tensor:
    if isinstance(arrays, list):
        return joined([_joined_block(x, depth - 1, ndim) for x in arrays], -depth)
    x = tensor(arrays)
    return x.reshape((1,) * (ndim - x.ndim) + tuple(x.shape))


@counterpart("array_split")
def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    sections = indices_or_sections
    if not isinstance(sections, (int, np.integer)):
        sections = tuple(map(int, sections))
    return list(ops.tensor_split(tensor(ary), sections if isinstance(sections, tuple) else int(sections), axis))


@counterpart("split")
def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    sections = indices_or_sections
    if isinstance(sections, (int, np.integer)) and tensor(ary).shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return _array_split(ary, sections, axis)


def _check_rank(ary: Any, name: str, least: int) -> None:
    if tensor(ary).ndim < least:
        raise ValueError(f"{name} only works on arrays of {least} or more dimensions")


@counterpart("hsplit")
def _hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    _check_rank(ary, "hsplit", 1)
    return _split(ary, indices_or_sections, 1 if tensor(ary).ndim > 1 else 0)


@counterpart("vsplit")
def _vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    _check_rank(ary, "vsplit", 2)
    return _split(ary, indices_or_sections, 0)


@counterpart("dsplit")
def _dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    _check_rank(ary, "dsplit", 3)
    return _split(ary, indices_or_sections, 2)


@counterpart("unstack")
def _unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    return tuple(tensor(x).unbind(axis))


@counterpart("meshgrid")
def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Tensor, ...]:
    n = len(xi)
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    order = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    made = tuple(tensor(x).reshape([-1 if dim == order[k] else 1 for dim in range(n)]) for k, x in enumerate(xi))
    made = made if sparse else _broadcast_arrays(*made)
    return tuple(x.clone() for x in made) if copy else made
