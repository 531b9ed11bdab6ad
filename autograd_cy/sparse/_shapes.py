"""Sparse tensors with their elements in other places: transposes, selections, joined ones (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import array_of, from_array
from .._functional.names import cat as _cat
from .._types.layout import sparse_coo
from ._pattern import Pattern, csr_pattern, indices_of, keys_of
from ._tensor import SparseTensor, from_values, implements, refused, values_of


def dimension(dim: int, ndim: int) -> int:
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim


@implements("transpose", "swapaxes", "swapdims", "transpose_")
def transpose(self: Any, dim0: int, dim1: int) -> Any:
    a, b = dimension(dim0, self.ndim), dimension(dim1, self.ndim)
    order = list(range(self.ndim))
    order[a], order[b] = b, a
    return permute(self, order)


@implements("permute")
def permute(self: Any, *dims: Any) -> Any:
    given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    order = [dimension(d, self.ndim) for d in given]
    pattern = self._pattern
    n = pattern.sparse_dim
    if sorted(order) != list(range(self.ndim)):
        raise RuntimeError(f"permute(sparse_coo): repeated dims, or not all of them, in {list(given)}")
    if any((d < n) != (k < n) for k, d in enumerate(order)):
        raise RuntimeError("transpose: can't mix sparse and dense dimensions")
    if order == list(range(self.ndim)):
        return from_values(values_of(self), pattern)
    values = values_of(self)
    if order[n:] != list(range(n, self.ndim)):
        values = values.permute(0, *(d - n + 1 for d in order[n:]))
    size = tuple(pattern.size[d] for d in order)
    indices = indices_of(pattern)[order[:n]]
    if self.is_sparse_csr:
        keys = keys_of(indices, size[:n])
        sort = np.argsort(keys)
        return from_values(values.index_select(0, from_array(sort)), csr_pattern(keys[sort], size))
    return from_values(
        values, Pattern(pattern.layout, (from_array(indices),), size, pattern.coalesced and order[:n] == list(range(n)))
    )


@implements("t", "reversed_dims", "adjoint", "matrix_transposed", "t_copy")
def t(self: Any) -> Any:
    if self.ndim > 2 or self._pattern.dense_sizes:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {self._pattern.sparse_dim} sparse and "
            f"{len(self._pattern.dense_sizes)} dense dimensions"
        )
    return self if self.ndim < 2 else transpose(self, 0, 1)


@implements("hermitian", "conjugate_transposed")
def h(self: Any) -> Any:
    return t(self).conj() if self.is_complex() else t(self)


@implements("select")
def select(self: Any, dim: int, index: int) -> Any:
    d = dimension(dim, self.ndim)
    if not -self.shape[d] <= index < self.shape[d]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {d}")
    index = int(index) % self.shape[d]
    made = _taken(self, d, np.array([index]))
    return _without(made, d)


def _without(self: Any, d: int) -> Any:
    """A tensor without a dimension of size 1; dense if it was the only sparse one."""
    pattern = self._pattern
    size = pattern.size[:d] + pattern.size[d + 1 :]
    if d >= pattern.sparse_dim:
        return from_values(values_of(self).squeeze(d - pattern.sparse_dim + 1), pattern._replace(size=size))
    if pattern.sparse_dim == 1:
        return values_of(self).sum(0)
    indices = np.delete(indices_of(pattern), d, axis=0)
    return from_values(
        values_of(self), Pattern(sparse_coo, (from_array(indices),), size, pattern.coalesced)
    )


def _taken(self: Any, d: int, numbers: np.ndarray) -> Any:
    """The slices of those numbers along a dimension, as a COO tensor."""
    self = self.to_sparse()
    pattern = self._pattern
    size = (*pattern.size[:d], len(numbers), *pattern.size[d + 1 :])
    if d >= pattern.sparse_dim:
        values = values_of(self).index_select(d - pattern.sparse_dim + 1, from_array(numbers))
        return from_values(values, pattern._replace(size=size))
    indices = indices_of(pattern)
    order = np.argsort(indices[d], kind="stable")
    ordered = indices[d][order]
    starts, ends = np.searchsorted(ordered, numbers), np.searchsorted(ordered, numbers, side="right")
    counts = ends - starts
    chosen = order[np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts, counts)]
    moved = indices[:, chosen]
    moved[d] = np.repeat(np.arange(len(numbers)), counts)
    kept = pattern.coalesced and (d == 0 or len(numbers) == 1)
    made = from_values(
        values_of(self).index_select(0, from_array(chosen)), Pattern(pattern.layout, (from_array(moved),), size, kept)
    )
    return made


@implements("index_select")
def index_select(self: Any, dim: int, index: Any) -> Any:
    if type(self) is not SparseTensor:
        raise refused("index_select", [self, index])
    d = dimension(dim, self.ndim)
    numbers = array_of(index.detach())
    if numbers.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    numbers = numbers.reshape(-1)
    if numbers.size and (numbers.min() < -self.shape[d] or numbers.max() >= self.shape[d]):
        raise IndexError(f"index_select(): index contains an element that is out of range for dim {d} of size {self.shape[d]}")
    return _taken(self, d, np.where(numbers < 0, numbers + self.shape[d], numbers))


@implements("narrow")
def narrow(self: Any, dim: int, start: Any, length: int) -> Any:
    d = dimension(dim, self.ndim)
    start = int(start) + (self.shape[d] if start < 0 else 0)
    if start < 0 or length < 0 or start + length > self.shape[d]:
        raise RuntimeError(f"narrow(): start ({start}) + length ({length}) exceeds dimension size ({self.shape[d]}).")
    return _taken(self, d, np.arange(start, start + length))


@implements("__getitem__", "getitem")
def getitem(self: Any, index: Any) -> Any:
    """Integers, slices and `...`, which take parts along dimensions."""
    if type(self) is not SparseTensor:
        raise refused("index", [self, index])
    parts = list(index) if isinstance(index, tuple) else [index]
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) == 1:
        parts[dots[0] : dots[0] + 1] = [slice(None)] * (self.ndim - len(parts) + 1)
    made: Any = self
    d = 0
    if len(parts) > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    for part in parts:
        if isinstance(part, slice):
            if part != slice(None):
                made = _taken(made, d, np.arange(*part.indices(made.shape[d])))
            d += 1
        elif isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            if not -made.shape[d] <= part < made.shape[d]:
                raise IndexError(f"index {part} is out of bounds for dimension {d} with size {made.shape[d]}")
            made = made.select(d, int(part))
        else:
            raise refused("index", [self])
    return made


@implements("unbind")
def unbind(self: Any, dim: int = 0) -> Any:
    return tuple(select(self, dim, k) for k in range(self.shape[dim]))


@implements("__iter__")
def iterate(self: Any) -> Any:
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self))


@implements("unsqueeze")
def unsqueeze(self: Any, dim: int) -> Any:
    d = dimension(dim, self.ndim + 1)
    pattern = self._pattern
    size = (*pattern.size[:d], 1, *pattern.size[d:])
    if self.is_sparse_csr:
        raise refused("unsqueeze", [self])
    if d > pattern.sparse_dim:
        return from_values(values_of(self).unsqueeze(d - pattern.sparse_dim + 1), pattern._replace(size=size))
    indices = np.insert(indices_of(pattern), d, 0, axis=0)
    return from_values(values_of(self), Pattern(pattern.layout, (from_array(indices),), size, pattern.coalesced))


@implements("squeeze")
def squeeze(self: Any, dim: int | None = None) -> Any:
    for d in range(self.ndim - 1, -1, -1) if dim is None else [dimension(dim, self.ndim)]:
        if self.shape[d] == 1 and isinstance(self, SparseTensor):
            self = _without(self, d)
    return self


@implements("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    if out is not None or not all(type(x) is SparseTensor and x.is_sparse for x in tensors):
        raise RuntimeError("cat(): expected all tensors to be sparse ones of the layout sparse_coo, and no out=")
    first = tensors[0]
    d, n = dimension(dim, first.ndim), first._pattern.sparse_dim
    for x in tensors:
        if (
            x._pattern.sparse_dim != n
            or x.ndim != first.ndim
            or any(a != b for k, (a, b) in enumerate(zip(x.shape, first.shape, strict=True)) if k != d)
        ):
            raise RuntimeError(f"All tensors must have the same shape, and as many sparse dimensions, but for dimension {d}: "
                               f"{list(x.shape)} and {list(first.shape)} have not")  # fmt: skip
    offsets = np.cumsum([0, *(x.shape[d] for x in tensors)])
    size = (*first.shape[:d], int(offsets[-1]), *first.shape[d + 1 :])
    indices = [indices_of(x._pattern).copy() for x in tensors]
    values = [values_of(x) for x in tensors]
    if d < n:
        for part, offset in zip(indices, offsets[:-1], strict=True):
            part[d] += offset
    else:
        values = [
            _cat([v.new_zeros((v.shape[0], *_sized(v, d - n + 1, int(before)))), v,
                  v.new_zeros((v.shape[0], *_sized(v, d - n + 1, size[d] - int(before) - v.shape[d - n + 1])))], d - n + 1)
            for v, before in zip(values, offsets[:-1], strict=True)
        ]  # fmt: skip
    pattern = Pattern(first.layout, (from_array(np.concatenate(indices, axis=1)),), tuple(size), False)
    if d == 0 and all(x._pattern.coalesced for x in tensors) and d < n:
        pattern = pattern._replace(coalesced=True)
    return from_values(_cat(values, 0), pattern)


def _sized(values: Any, d: int, length: int) -> list[int]:
    """The sizes of one value with another length along a dimension of the values."""
    return [length if k == d else s for k, s in enumerate(values.shape)][1:]
