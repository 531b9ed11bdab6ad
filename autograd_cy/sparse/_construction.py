"""Sparse tensors from indices and values, and from dense tensors (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.runtime.entry import public
from .._creation import resolve
from .._creation.data import as_tensor, tensor
from .._types import on_cpu
from .._types.layout import sparse_coo, sparse_csr, strided
from ._pattern import Pattern, coo_pattern, csr_pattern, keys_of, places_of
from ._tensor import SparseTensor, coalesced, from_values, implements, sums, values_at, values_of


def _values(values: Any, dtype: Any, device: Any) -> Any:
    if device is not None:
        on_cpu(device)
    given = values if isinstance(values, Tensor) else tensor(values)
    if type(given) is SparseTensor:
        raise TypeError("sparse tensors are made of dense values, but got sparse ones")
    return given if dtype is None else given.to(dtype)


def _index(x: Any, name: str) -> np.ndarray:
    array = array_of(x.detach()) if isinstance(x, Tensor) else np.asarray(x)
    if array.size == 0 and not isinstance(x, (Tensor, np.ndarray)):
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and (np.isfinite(array) & (np.trunc(array) == array)).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name} must be an integer tensor, but got {as_tensor(array).dtype}")
    return np.array(array, dtype=np.int64, order="C")


def _finished(values: Any, pattern: Pattern, requires_grad: bool) -> Any:
    made = from_values(values, pattern)
    return made.detach().requires_grad_() if requires_grad else made


@public
def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:  # fmt: skip
    """``sparse_coo_tensor(indices, values, size=None)`` is the tensor with these values at these places, 0 elsewhere.

    indices: integers (sparse_dim, nnz); values (nnz, *dense sizes). Values of one place count as their sum. The size is by
    default the smallest that holds all. ``sparse_coo_tensor(size)`` is all zero. RuntimeError for sizes that don't fit, and
    for an index out of range. Gradients go to the values.

    >>> import autograd_cy as ag
    >>> ag.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if values is None:
        if size is None:
            indices, size = None, indices
        if size is None:
            raise TypeError("sparse_coo_tensor(): expected indices and values, or a size")
        sizes = tuple(int(n) for n in ([size] if isinstance(size, int) else size))
        indices, values = np.zeros((len(sizes), 0), np.int64), from_array(np.zeros(0, resolve(dtype, device, requires_grad)))
    places, given = _parts_of_coo(indices, _values(values, dtype, device))
    if size is None:
        size = _smallest_size(places, given)
    sizes = tuple(int(n) for n in size)
    _check_coo(places, given, sizes)
    pattern = Pattern(sparse_coo, (from_array(places),), sizes, False)
    if is_coalesced:
        keys = places_of(pattern)
        if keys.size > 1 and not (keys[1:] > keys[:-1]).all():
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
        pattern = pattern._replace(coalesced=True)
    return _finished(given, pattern, requires_grad)


def _parts_of_coo(indices: Any, given: Any) -> tuple[np.ndarray, Any]:
    """The indices as an array, and the values, of as many places."""
    places = _index(indices, "indices")
    if places.ndim == 1 and places.size == 0:
        places = places.reshape(0, given.shape[0] if given.ndim else 0)
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    if given.ndim == 0:
        given = given.reshape(1).expand(places.shape[1])
    if places.shape[1] != given.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, "
            f"nnz from values: {given.shape[0]}"
        )
    return places, given


def _smallest_size(places: np.ndarray, values: Any) -> tuple[int, ...]:
    if (places < 0).any():
        raise RuntimeError(f"found negative index {places.min()}")
    return (*(int(row.max()) + 1 if row.size else 0 for row in places), *values.shape[1:])


def _check_coo(places: np.ndarray, values: Any, sizes: tuple[int, ...]) -> None:
    sparse_dim, dense_dim = places.shape[0], values.ndim - 1
    if len(sizes) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(sizes)}, "
            f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    if tuple(values.shape[1:]) != sizes[sparse_dim:]:
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *sizes[sparse_dim:]]}, got {list(values.shape)}"
        )
    for dim, row in enumerate(places):
        if row.size and row.min() < 0:
            raise RuntimeError(f"found negative index {row.min()} for dim {dim}")
        if row.size and row.max() >= sizes[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {sizes[dim]} but found index {row.max()}"
            )


@public
def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
) -> Any:  # fmt: skip
    """``sparse_csr_tensor(crow_indices, col_indices, values, size=None)`` is a matrix in compressed rows.

    Row i has the columns and values from crow_indices[i] up to crow_indices[i + 1]. RuntimeError for what does not fit.
    Gradients go to the values.

    >>> import autograd_cy as ag
    >>> ag.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    given = _values(values, dtype, device)
    crow, col = _index(crow_indices, "crow_indices"), _index(col_indices, "col_indices")
    if crow.ndim != 1 or col.ndim != 1:
        raise RuntimeError("sparse_csr_tensor(): batches of matrices are not there: expected 1-D crow_indices and col_indices")
    if size is None:
        size = (max(len(crow) - 1, 0), int(col.max()) + 1 if col.size else 0, *given.shape[1:])
    sizes = tuple(int(n) for n in size)
    _check_csr(crow, col, given, sizes)
    kept = [
        np.int32 if isinstance(x, Tensor) and array_of(x).dtype == np.int32 else np.int64 for x in (crow_indices, col_indices)
    ]
    pattern = Pattern(sparse_csr, (from_array(crow.astype(kept[0])), from_array(col.astype(kept[1]))), sizes, True)
    return _finished(given, pattern, requires_grad)


def _check_csr(crow: np.ndarray, col: np.ndarray, values: Any, sizes: tuple[int, ...]) -> None:
    if len(sizes) < 2:
        raise RuntimeError(f"size of a matrix must have length >= 2, but got length {len(sizes)}")
    if len(crow) != sizes[0] + 1:
        raise RuntimeError(
            f"crow_indices.shape[-1] must be equal to the number of rows plus one ({sizes[0] + 1}), but got {len(crow)}"
        )
    if crow[0] != 0:
        raise RuntimeError("`crow_indices[..., 0] == 0` is not satisfied")
    if crow[-1] != len(col):
        raise RuntimeError("`crow_indices[..., -1] == nnz` is not satisfied")
    if (np.diff(crow) < 0).any():
        raise RuntimeError("`0 <= crow_indices[..., 1:] - crow_indices[..., :-1] <= ncols` is not satisfied")
    if values.ndim < 1 or values.shape[0] != len(col) or tuple(values.shape[1:]) != sizes[2:]:
        raise RuntimeError(f"values must have the shape {[len(col), *sizes[2:]]} of col_indices, but got {list(values.shape)}")
    if col.size and (col.min() < 0 or col.max() >= sizes[1]):
        raise RuntimeError("`0 <= col_indices < ncols` is not satisfied")
    rows = np.repeat(np.arange(sizes[0]), np.diff(crow))
    if col.size and not (np.diff(rows * sizes[1] + col) > 0).all():
        raise RuntimeError(
            "`col_indices[..., crow_indices[..., i - 1]:crow_indices[..., i]]` for all i = 1, ..., nrows are not sorted and "
            "distinct along the last dimension values"
        )


# between layouts


@implements("to_dense")
def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    pattern, values = self._pattern, values_of(self)
    n = int(np.prod(pattern.sparse_sizes, dtype=np.int64))
    dense = sums(values, places_of(pattern), n).reshape(pattern.size)
    return dense if dtype is None else dense.to(dtype)


@implements("to_sparse")
def to_sparse(
    self: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
) -> Any:
    if blocksize is not None:
        raise NotImplementedError("to_sparse(): there are no layouts of blocks")
    layout = sparse_coo if layout is None else layout
    if layout is strided or layout not in (sparse_coo, sparse_csr):
        raise NotImplementedError(f"to_sparse(): there are sparse tensors of sparse_coo and sparse_csr, not of {layout}")
    if type(self) is SparseTensor:
        return _in_layout(self, layout, sparse_dim)
    if sparse_dim is not None and not 0 < sparse_dim <= max(self.ndim, 1):
        raise RuntimeError(f"to_sparse: sparse_dim must be in [1, {self.ndim}], but got {sparse_dim}")
    if layout is sparse_csr:
        if self.ndim - (dense_dim or 0) != 2:
            raise RuntimeError(f"to_sparse_csr(): expected a matrix, got a tensor of {self.ndim} dimensions")
        sparse_dim = 2
    elif sparse_dim is None:
        sparse_dim = self.ndim - (dense_dim or 0)
    size = tuple(self.shape)
    nonzero = array_of(self.detach()) != 0
    if nonzero.ndim > sparse_dim:
        nonzero = nonzero.any(axis=tuple(range(sparse_dim, nonzero.ndim)))
    indices = np.stack(np.nonzero(nonzero)) if sparse_dim else np.zeros((0, int(nonzero)), np.int64)
    keys = keys_of(indices.astype(np.int64, copy=False), size[:sparse_dim])
    pattern = coo_pattern(keys, size, sparse_dim) if layout is sparse_coo else csr_pattern(keys, size)
    return from_values(values_at(self, pattern), pattern)


def _in_layout(self: Any, layout: Any, sparse_dim: int | None) -> Any:
    """A sparse tensor in a layout."""
    pattern = self._pattern
    if sparse_dim is not None and sparse_dim != pattern.sparse_dim:
        raise RuntimeError(f"to_sparse: conversion from {pattern.layout} with {pattern.sparse_dim} sparse dimensions to "
                           f"{sparse_dim} is not supported")  # fmt: skip
    if pattern.layout is layout:
        return self
    if layout is sparse_coo:
        return from_values(values_of(self), coo_pattern(places_of(pattern), pattern.size, 2))
    if pattern.sparse_dim != 2:
        raise RuntimeError(f"to_sparse_csr(): expected 2 sparse dimensions, got {pattern.sparse_dim}")
    self = coalesced(self)
    return from_values(values_of(self), csr_pattern(places_of(self._pattern), pattern.size))


@implements("to_sparse_csr")
def to_sparse_csr(self: Any, dense_dim: int | None = None) -> Any:
    return to_sparse(self, layout=sparse_csr, dense_dim=dense_dim)


@implements("to_sparse_coo")
def to_sparse_coo(self: Any) -> Any:
    return to_sparse(self, layout=sparse_coo)


@implements("sparse_mask")
def sparse_mask(self: Any, mask: Any) -> Any:
    if type(mask) is not SparseTensor:
        raise RuntimeError("sparse_mask(): mask must be a sparse tensor")
    if tuple(self.shape) != tuple(mask.shape):
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    pattern = mask._pattern
    return from_values(values_at(self, pattern), pattern)
