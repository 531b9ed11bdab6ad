"""The extension `linalg` of the Array API standard (facade)."""

from typing import Any

from .. import linalg as _linalg
from .._core.graph.tensor import Tensor as _Tensor
from .._functional import names as _ops
from .._numpy import _linear, _shapes
from ._products import matmul, tensordot, vecdot
from ._promotion import promoted as _promoted
from ._shapes import matrix_transpose
from ._statistics import sum as _sum

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace",
    "vecdot", "vector_norm",
]  # fmt: skip


def cholesky(x: _Tensor, /, *, upper: Any = False) -> _Tensor:
    """cholesky(x, /, *, upper=False): the triangular factor of positive definite matrices."""
    return _linalg.cholesky(x, upper=upper)


def cross(x1: _Tensor, x2: _Tensor, /, *, axis: int = -1) -> _Tensor:
    """cross(x1, x2, /, *, axis=-1): the cross products of vectors of 3 elements."""
    first, second = _shapes._broadcast_arrays(*_promoted(x1, x2))
    return _linalg.cross(first, second, dim=axis)


def det(x: _Tensor, /) -> _Tensor:
    """det(x, /): the determinants of matrices."""
    return _linalg.det(x)


def diagonal(x: _Tensor, /, *, offset: int = 0) -> _Tensor:
    """diagonal(x, /, *, offset=0): the diagonals of matrices."""
    return _ops.diagonal(x, offset, -2, -1)


def eigh(x: _Tensor, /) -> Any:
    """eigh(x, /): the eigenvalues and eigenvectors of Hermitian matrices."""
    return _linalg.eigh(x)


def eigvalsh(x: _Tensor, /) -> _Tensor:
    """eigvalsh(x, /): the eigenvalues of Hermitian matrices."""
    return _linalg.eigvalsh(x)


def inv(x: _Tensor, /) -> _Tensor:
    """inv(x, /): the inverses of matrices."""
    return _linalg.inv(x)


def matrix_norm(x: _Tensor, /, *, keepdims: Any = False, ord: Any = "fro") -> _Tensor:
    """matrix_norm(x, /, *, keepdims=False, ord="fro"): the norms of matrices."""
    return _linalg.matrix_norm(x, ord, keepdim=keepdims)


def matrix_power(x: _Tensor, n: int, /) -> _Tensor:
    """matrix_power(x, n, /): the powers of matrices."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x: _Tensor, /, *, rtol: Any = None) -> _Tensor:
    """matrix_rank(x, /, *, rtol=None): how many singular values are larger than rtol times the largest."""
    return _linalg.matrix_rank(x, rtol=rtol)


def outer(x1: _Tensor, x2: _Tensor, /) -> _Tensor:
    """outer(x1, x2, /): all products of the elements of two vectors."""
    return _ops.outer(*_promoted(x1, x2))


def pinv(x: _Tensor, /, *, rtol: Any = None) -> _Tensor:
    """pinv(x, /, *, rtol=None): the pseudoinverses of matrices."""
    return _linalg.pinv(x, rtol=rtol)


def qr(x: _Tensor, /, *, mode: Any = "reduced") -> Any:
    """qr(x, /, *, mode="reduced"): Q with orthonormal columns and an upper triangular R, "reduced" or "complete"."""
    return _linalg.qr(x, mode)


def slogdet(x: _Tensor, /) -> Any:
    """slogdet(x, /): the signs of determinants, and the logarithms of their absolute values."""
    return _linalg.slogdet(x)


def solve(x1: _Tensor, x2: _Tensor, /) -> _Tensor:
    """solve(x1, x2, /): the solutions of systems of linear equations; a vector x2 only if it has one dimension."""
    return _linear._solve(*_promoted(x1, x2))


def svd(x: _Tensor, /, *, full_matrices: Any = True) -> Any:
    """svd(x, /, *, full_matrices=True): U, S and Vh, the singular value decomposition."""
    return _linalg.svd(x, full_matrices)


def svdvals(x: _Tensor, /) -> _Tensor:
    """svdvals(x, /): the singular values of matrices."""
    return _linalg.svdvals(x)


def trace(x: _Tensor, /, *, offset: int = 0, dtype: Any = None) -> _Tensor:
    """trace(x, /, *, offset=0, dtype=None): the sums of the diagonals of matrices."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: _Tensor, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> _Tensor:
    """vector_norm(x, /, *, axis=None, keepdims=False, ord=2): the norms of vectors."""
    return _linalg.vector_norm(x, ord, axis, keepdims)
