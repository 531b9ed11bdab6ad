"""Sums and softmax of sparse tensors (facade)."""

import math
from typing import Any

import numpy as np

from .._core.graph.tensor import array_of, from_array
from .._core.runtime.entry import public
from ._pattern import Pattern, coo_pattern, indices_of, keys_of
from ._tensor import SparseTensor, coalesced, from_values, implements, refused, sums, values_of


def _dims(dim: Any, ndim: int) -> list[int]:
    dims = [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        if not -ndim <= d < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
    dims = [d % ndim for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError("dim appears multiple times in the list of dims")
    return sorted(dims)


@public
def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """``sum(input, dim=None, dtype=None)`` of a sparse tensor: a sparse one, or dense where no sparse dimension is left.

    >>> import autograd_cy as ag
    >>> ag.sparse.sum(ag.tensor([[1.0, 2.0], [0.0, 4.0]]).to_sparse(), 0).to_dense()
    tensor([1., 6.])
    """
    if type(input) is not SparseTensor:
        raise refused("_sparse_sum", [input])
    values = values_of(input)
    values = values if dtype is None else values.to(dtype)
    if dim is None:
        return values.sum()
    dims = _dims(dim, input.ndim)
    pattern = input._pattern
    n = pattern.sparse_dim
    inner = [d - n + 1 for d in dims if d >= n]
    outer = [d for d in dims if d < n]
    if inner:
        values = values.sum(inner)
    if len(outer) == n:
        return values.sum(0)
    size = tuple(s for d, s in enumerate(pattern.size) if d not in dims)
    rest = [d for d in range(n) if d not in outer]
    indices = indices_of(pattern)
    if not outer:
        return from_values(values, pattern._replace(size=size))
    keys, inverse = np.unique(keys_of(indices[rest], tuple(pattern.size[d] for d in rest)), return_inverse=True)
    return from_values(sums(values, inverse, keys.size), coo_pattern(keys, size, len(rest)))


@implements("sum")
def sum_of(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    made = sum(input, dim, dtype)
    if dim is None or not keepdim:
        return made
    dims = _dims(dim, input.ndim)
    shape = [1 if d in dims else s for d, s in enumerate(input.shape)]
    if type(made) is not SparseTensor:
        return made.reshape(shape)
    pattern = made._pattern
    n = input._pattern.sparse_dim
    values = values_of(made).reshape(made._nnz(), *shape[n:])
    if all(d >= n for d in dims):  # the places are the input's
        return from_values(values, pattern._replace(size=tuple(shape)))
    rows = iter(indices_of(pattern))
    zeros = np.zeros(made._nnz(), np.int64)
    indices = np.stack([zeros if d in dims else next(rows) for d in range(n)])
    return from_values(values, Pattern(pattern.layout, (from_array(indices),), tuple(shape), pattern.coalesced))


@implements("norm", "linalg_vector_norm", "vector_norm")
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None, *, out: Any = None, ord: Any = None
) -> Any:
    """The norm of all elements."""
    p = p if ord is None else ord
    p = 2 if p in (None, "fro") else p
    if dim is not None or keepdim or out is not None or not p > 0:
        raise refused("norm", [input])
    values = values_of(coalesced(input))
    values = values if dtype is None else values.to(dtype)
    return values.norm(p) if values.numel() else values.new_zeros(())


def _softmax(input: Any, dim: int, dtype: Any, name: str) -> Any:
    if type(input) is not SparseTensor or input.is_sparse_csr:
        raise refused(f"_sparse_{name}", [input])
    input = coalesced(input)
    (d,) = _dims(dim, input.ndim)
    pattern, values = input._pattern, values_of(input)
    values = values if dtype is None else values.to(dtype)
    if not values.dtype.is_floating_point:
        raise NotImplementedError(f'"{name}" not implemented for {values.dtype}')
    n = pattern.sparse_dim
    if d >= n:
        return from_values(getattr(values, name)(d - n + 1), pattern)
    rest = [k for k in range(n) if k != d]
    keys, inverse = np.unique(keys_of(indices_of(pattern)[rest], tuple(pattern.size[k] for k in rest)), return_inverse=True)
    group = from_array(inverse.reshape(-1))
    largest = np.full((keys.size, *values.shape[1:]), -math.inf, array_of(values.detach()).dtype)
    np.maximum.at(largest, inverse.reshape(-1), array_of(values.detach()))
    largest[~np.isfinite(largest)] = 0
    shifted = values - from_array(largest).index_select(0, group)
    exponentials = shifted.exp()
    total = sums(exponentials, inverse, keys.size)
    if name == "softmax":
        return from_values(exponentials / total.index_select(0, group), pattern)
    return from_values(shifted - total.log().index_select(0, group), pattern)


@public
def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """``softmax(input, dim)`` of a sparse tensor, whose places that have no value count as minus infinity.

    >>> import autograd_cy as ag
    >>> ag.sparse.softmax(ag.tensor([[1.0, 1.0], [0.0, 4.0]]).to_sparse(), 1).to_dense()
    tensor([[0.5000, 0.5000],
            [0.0000, 1.0000]])
    """
    return _softmax(input, dim, dtype, "softmax")


@public
def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """``log_softmax(input, dim)`` is the logarithm of softmax(input, dim), computed stably, at the same places.

    >>> import autograd_cy as ag
    >>> ag.sparse.log_softmax(ag.tensor([[1.0, 1.0]]).to_sparse(), 1).values()
    tensor([-0.6931, -0.6931])
    """
    return _softmax(input, dim, dtype, "log_softmax")


implements("softmax", "_sparse_softmax")(lambda input, dim, dtype=None, **_: softmax(input, dim, dtype=dtype))
implements("log_softmax", "_sparse_log_softmax")(lambda input, dim, dtype=None, **_: log_softmax(input, dim, dtype=dtype))
