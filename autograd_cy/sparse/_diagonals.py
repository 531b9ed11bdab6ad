"""Sparse matrices from diagonals (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import array_of, from_array
from .._core.runtime.entry import public
from .._types.layout import sparse_coo, sparse_csr
from ._pattern import Pattern
from ._tensor import from_values

__all__ = ["spdiags"]


@public
def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """``spdiags(diagonals, offsets, shape)`` is the sparse matrix whose diagonal offsets[i] is diagonals[i]: column j has its
    j-th element.

    >>> import autograd_cy as ag
    >>> ag.sparse.spdiags(ag.tensor([[1.0, 2.0, 3.0]]), ag.tensor([1]), (2, 3)).to_dense()
    tensor([[0., 2., 0.],
            [0., 0., 3.]])
    """
    if diagonals.ndim == 1:
        diagonals = diagonals.unsqueeze(0)
    numbers = array_of(offsets).reshape(-1)
    if diagonals.ndim != 2 or len(shape) != 2:
        raise RuntimeError(
            "Diagonals must be vector or matrix, and the shape that of a matrix, but got "
            f"{list(diagonals.shape)} and {tuple(shape)}"
        )
    if numbers.size != diagonals.shape[0]:
        raise RuntimeError(f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({numbers.size})")
    if np.unique(numbers).size != numbers.size:
        raise RuntimeError("Offset tensor contains duplicate values")
    if layout not in (None, sparse_coo, sparse_csr):
        raise RuntimeError(f"Only output layouts (torch.sparse_coo, torch.sparse_csr) are supported, got {layout}")
    which, cols = np.meshgrid(np.arange(numbers.size), np.arange(min(diagonals.shape[1], shape[1])), indexing="ij")
    rows = cols - numbers[:, None]
    kept = (rows >= 0) & (rows < shape[0])
    values = diagonals.reshape(-1).index_select(0, from_array((which * diagonals.shape[1] + cols)[kept]))
    indices = np.stack([rows[kept], cols[kept]]).astype(np.int64)
    made = from_values(values, Pattern(sparse_coo, (from_array(indices),), tuple(shape), False))
    return made.to_sparse_csr() if layout is sparse_csr else made
