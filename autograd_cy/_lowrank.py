"""Decompositions of matrices of low rank, by random projections (facade).

Source: N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions" (2009), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from ._core.graph.tensor import Tensor
from ._core.ops.matrices.decompositions import linalg_qr, linalg_svd
from .random import randn


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """``svd_lowrank(A)`` is (U, S, V) with A nearly U @ diag(S) @ V.mH, for the q largest singular values.

    A is projected on q random directions, which `niter` iterations turn towards the largest ones: q is a little larger than
    the rank. With `M`, of A - M.

    >>> import autograd_cy as ag
    >>> ag.svd_lowrank(ag.ones(3, 3), q=1)[1]
    tensor([3.])
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    a = A if M is None else A - M.broadcast_to(A.shape)
    is_wide = a.shape[-2] < a.shape[-1]
    a = a.mH if is_wide else a
    basis = _basis(a, q, niter)
    u, s, vh = linalg_svd(basis.mH @ a, full_matrices=False)
    u, v = basis @ u, vh.mH
    return (v, s, u) if is_wide else (u, s, v)


def _basis(a: Tensor, q: int, niter: int) -> Tensor:
    """q orthonormal columns, which span nearly what those of `a` do."""
    basis = linalg_qr(a @ randn(a.shape[-1], q, dtype=a.dtype)).Q
    for _ in range(niter):
        basis = linalg_qr(a.mH @ basis).Q
        basis = linalg_qr(a @ basis).Q
    return basis


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """``pca_lowrank(A)`` is (U, S, V): the columns of V are the q principal directions of A's rows.

    It is svd_lowrank() of A less the mean of its rows; with center=False of A. q is at most 6 by default.

    >>> import autograd_cy as ag
    >>> ag.pca_lowrank(ag.tensor([[1.0, 0.0], [3.0, 0.0]]), q=1)[2].abs()
    tensor([[1.],
            [0.]])
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter)
