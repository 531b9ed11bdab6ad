"""Sparse tensors from SciPy's arrays, and back (facade). SciPy is imported when asked for."""

from typing import Any

import numpy as np

from .._core.graph.tensor import array_of, from_array
from .._core.runtime.entry import public
from ._construction import sparse_coo_tensor, sparse_csr_tensor
from ._pattern import indices_of
from ._tensor import SparseTensor

__all__ = ["from_scipy", "spsolve", "to_scipy"]


def _scipy_sparse() -> Any:
    try:
        from scipy import sparse
    except ImportError as error:
        raise ImportError('torch.sparse needs SciPy for this: pip install "autograd_cy[sparse]"') from error
    return sparse


@public
def from_scipy(matrix: Any) -> Any:
    """``from_scipy(matrix)`` is the sparse tensor of a matrix of scipy.sparse, a copy: CSR of a csr one, COO of any other.

    >>> import autograd_cy as ag
    >>> import scipy.sparse
    >>> ag.sparse.from_scipy(scipy.sparse.csr_array([[0.0, 2.0]]))
    tensor(crow_indices=tensor([0, 1]),
           col_indices=tensor([1]),
           values=tensor([2.]), size=(1, 2), nnz=1, dtype=torch.float64,
           layout=torch.sparse_csr)
    """
    if not _scipy_sparse().issparse(matrix):
        raise TypeError(f"from_scipy(): expected a matrix of scipy.sparse, got {type(matrix).__name__}")
    if matrix.format == "csr":
        matrix = matrix.copy()
        matrix.sum_duplicates()
        crow, col = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        return sparse_csr_tensor(from_array(crow), from_array(col), from_array(matrix.data), matrix.shape)
    matrix = matrix.tocoo()
    indices = np.stack(
        [np.asarray(row, np.int64) for row in (matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col))]
    )
    return sparse_coo_tensor(from_array(indices), from_array(matrix.data.copy()), matrix.shape)


@public
def to_scipy(tensor: Any) -> Any:
    """``to_scipy(tensor)`` is a sparse matrix as a scipy.sparse.coo_array or csr_array: a copy, without gradients.

    >>> import autograd_cy as ag
    >>> ag.sparse.to_scipy(ag.tensor([[0.0, 2.0]]).to_sparse()).toarray()
    array([[0., 2.]], dtype=float32)
    """
    if type(tensor) is not SparseTensor or tensor.ndim != 2 or tensor.dense_dim():
        raise TypeError("to_scipy(): expected a sparse matrix without dense dimensions")
    if tensor.requires_grad:
        raise RuntimeError("Can't call to_scipy() on a Tensor that requires grad. Use tensor.detach() first.")
    sparse, values, shape = _scipy_sparse(), array_of(tensor._held).copy(), tuple(tensor.shape)
    if tensor.is_sparse_csr:
        crow, col = (array_of(part).copy() for part in tensor._pattern.parts)
        return sparse.csr_array((values, col, crow), shape=shape)
    return sparse.coo_array((values, tuple(indices_of(tensor._pattern).copy())), shape=shape)


@public
def spsolve(input: Any, other: Any, *, left: bool = True) -> Any:
    """``spsolve(A, b)`` raises NotImplementedError: systems of sparse matrices are not there; to_dense() has linalg.solve().

    >>> import autograd_cy as ag
    >>> ag.sparse.spsolve(ag.eye(2).to_sparse_csr(), ag.ones(2))
    Traceback (most recent call last):
    NotImplementedError: spsolve(): systems of sparse matrices are not there: call linalg.solve() with to_dense()
    """
    raise NotImplementedError("spsolve(): systems of sparse matrices are not there: call linalg.solve() with to_dense()")
