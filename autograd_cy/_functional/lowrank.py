"""Decompositions of matrices of low rank, by random projections (facade). Imported when asked for."""

from .. import linalg
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from ..random import randn
from . import names


@public
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """``svd_lowrank(A, q=6, niter=2)`` is (U, S, V) with A about U @ diag(S) @ V.mH, of rank q, by random projections.

    More of the `niter` iterations make it more exact. With M, A - M is decomposed.

    >>> import autograd_cy as ag
    >>> U, S, V = ag.svd_lowrank(ag.ones(3, 2), q=1)
    >>> (U @ ag.diag(S) @ V.mH).round(decimals=3)
    tensor([[1., 1.],
            [1., 1.],
            [1., 1.]])
    """
    A = _matrices(A, "svd_lowrank") if M is None else _matrices(A, "svd_lowrank") - M
    is_wide = A.shape[-2] < A.shape[-1]
    if is_wide:
        A = A.mH
    Q = _range_of(A, 6 if q is None else q, 2 if niter is None else niter)
    U, S, Vh = linalg.svd(Q.mH @ A, full_matrices=False)
    return (Vh.mH, S, Q @ U) if is_wide else (Q @ U, S, Vh.mH)


@public
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """``pca_lowrank(A, q=None, center=True, niter=2)`` is the principal components of rows: svd_lowrank() without their mean.

    `q`, by default 6 or as many as there can be, is how many.

    >>> import autograd_cy as ag
    >>> U, S, V = ag.pca_lowrank(ag.tensor([[1.0, 2.0], [3.0, 6.0]]), q=1)
    >>> S
    tensor([3.1623])
    """
    m, n = _matrices(A, "pca_lowrank").shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A, q, niter, A.mean(-2, True) if center else None)


def _matrices(A: Tensor, name: str) -> Tensor:
    if not isinstance(A, Tensor):
        raise TypeError(f"{name}(): argument 'A' (position 1) must be Tensor, not {type(A).__name__}")
    if A.ndim < 2:
        raise ValueError(f"{name}(): A must have at least 2 dimensions, but it has {A.ndim}")
    return A if A.is_floating_point() or A.is_complex() else A.to(names.float32)


def _range_of(A: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that span about what the largest q singular vectors do."""
    Q = linalg.qr(A @ randn(A.shape[-1], q, dtype=A.dtype)).Q
    for _ in range(niter):
        Q = linalg.qr(A.mH @ Q).Q
        Q = linalg.qr(A @ Q).Q
    return Q
