"""lobpcg: some of the largest or smallest eigenvalues of a symmetric matrix (facade). Imported when asked for."""

from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public


@public
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """``lobpcg(A, k=1, B=None, largest=True)`` is the k largest (smallest) eigenvalues of A x = w B x, and their vectors.

    A is symmetric and B positive definite, both (..., m, m) with m >= 3 k. Matrices are dense here, so all eigenvalues are
    computed, exactly, by linalg.eigh. PyTorch's options of the iteration (iK, niter, tol, method) have no effect;
    X sets the default of k, X.shape[-1]. Differentiable.

    >>> import autograd_cy as ag
    >>> w, V = ag.lobpcg(ag.diag(ag.tensor([1.0, 5.0, 3.0, 2.0])), largest=True)
    >>> w, V.abs().T
    (tensor([5.]), tensor([[0., 1., 0., 0.]]))
    """
    count = k if k is not None else n if n is not None else X.shape[-1] if X is not None else 1
    rows = A.shape[-1]
    if A.ndim < 2 or A.shape[-2] != rows:
        raise ValueError(f"lobpcg: expected square matrices, got a tensor of shape {list(A.shape)}")
    if rows < 3 * count:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller than 3 x the number of "
            f"requested eigenpairs (={count})"
        )
    A = _symmetric(A)
    if B is None:
        values, vectors = linalg.eigh(A)
    else:
        lower = linalg.cholesky(_symmetric(B))
        half = linalg.solve_triangular(lower, A, upper=False)
        values, vectors = linalg.eigh(linalg.solve_triangular(lower, half.mT, upper=False))
        vectors = linalg.solve_triangular(lower.mT, vectors, upper=True)
    if largest is None or largest:
        return values[..., rows - count :].flip(-1), vectors[..., rows - count :].flip(-1)
    return values[..., :count], vectors[..., :count]


def _symmetric(matrix: Tensor) -> Tensor:
    """The matrix, if it is Hermitian: both of its triangles count, and have equal gradients."""
    return (matrix + matrix.mH) / 2
