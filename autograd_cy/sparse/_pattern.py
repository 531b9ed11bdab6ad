"""The pattern of a sparse tensor, which has the places of its values, and arithmetic with places (facade)."""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from .._types.layout import sparse_coo, sparse_csr


class Pattern(NamedTuple):
    """The layout, the index tensors (COO: one of shape (sparse_dim, nnz); CSR: crow and col), the size, and whether the places
    are sorted and unique, as always in CSR."""

    layout: Any
    parts: tuple[Tensor, ...]
    size: tuple[int, ...]
    coalesced: bool

    @property
    def sparse_dim(self) -> int:
        return self.parts[0].shape[0] if self.layout is sparse_coo else 2

    @property
    def dense_sizes(self) -> tuple[int, ...]:
        return self.size[self.sparse_dim :]

    @property
    def sparse_sizes(self) -> tuple[int, ...]:
        return self.size[: self.sparse_dim]


def indices_of(pattern: Pattern) -> np.ndarray:
    """The places as an array of int64, a row for each sparse dimension."""
    if pattern.layout is sparse_coo:
        return array_of(pattern.parts[0])
    crow, col = (array_of(part) for part in pattern.parts)
    rows = np.repeat(np.arange(len(crow) - 1), np.diff(crow))
    return np.stack([rows, col.astype(np.int64, copy=False)])


def keys_of(indices: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """The number of each place in C order."""
    if len(sizes) == 0:
        return np.zeros(indices.shape[1], np.int64)
    if len(sizes) == 1:
        return indices[0]
    if math.prod(sizes) >= 2**62:
        raise RuntimeError(f"a sparse tensor of sizes {list(sizes)} has more places than can be numbered")
    keys = indices[0].copy()
    for size, row in zip(sizes[1:], indices[1:], strict=True):
        keys *= size
        keys += row
    return keys


def places_of(pattern: Pattern) -> np.ndarray:
    """The number of each value's place."""
    return keys_of(indices_of(pattern), pattern.sparse_sizes)


def from_keys(keys: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """The inverse of `keys_of`."""
    if len(sizes) == 1:
        return keys[None]
    if not keys.size or not sizes:
        return np.zeros((len(sizes), keys.size), np.int64)
    return np.stack(np.unravel_index(keys, sizes)).astype(np.int64, copy=False)


def coo_pattern(keys: np.ndarray, size: tuple[int, ...], sparse_dim: int) -> Pattern:
    """The pattern of places, from their sorted, unique numbers."""
    return Pattern(sparse_coo, (from_array(from_keys(keys, size[:sparse_dim])),), size, True)


def same_places(a: Pattern, b: Pattern) -> bool:
    """Whether two patterns of one layout have the same places in the same order."""
    if a.layout is not b.layout or a.size != b.size:
        return False
    return all(x is y or np.array_equal(array_of(x), array_of(y)) for x, y in zip(a.parts, b.parts, strict=True))


def csr_pattern(keys: np.ndarray, size: tuple[int, ...]) -> Pattern:
    """The CSR pattern of places in a matrix, from their sorted, unique numbers."""
    rows, cols = from_keys(keys, size[:2])
    crow = np.zeros(size[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=size[0]), out=crow[1:])
    return Pattern(sparse_csr, (from_array(crow), from_array(np.ascontiguousarray(cols))), size, True)


@functools.cache
def _element(dtype: Any) -> np.ndarray:
    """The single element behind all elements of a placeholder: case 1 of NOTE [Sparse tensors]."""
    try:
        return np.full((), np.nan, dtype) if np.dtype(dtype).kind not in "?biu" else np.zeros((), dtype)
    except (TypeError, ValueError):
        return np.zeros((), dtype)


def placeholder(size: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of that shape and type without memory of its own, which can't be written."""
    try:
        return np.broadcast_to(_element(dtype), size)
    except ValueError:
        raise RuntimeError(f"a sparse tensor can't have the sizes {list(size)}: they hold too many elements") from None
