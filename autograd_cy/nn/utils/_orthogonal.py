"""Orthogonal matrices, by three maps onto them (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.ops.matrices.decompositions import geqrf, householder_product, matrix_exp
from ..._core.ops.matrices.systems import solve
from ..._core.ops.shapes.joining import cat
from ..._core.runtime.entry import public
from ..._creation.filled import eye, zeros_like
from ..._tensor.values import allclose
from ..._types.limits import finfo
from ...autograd.grad_mode import no_grad
from ...random import randn
from ..modules.module import Module

MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """Maps any matrix to an orthogonal one; `base`, if any, is multiplied by the result."""

    base: Any

    @public
    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        is_wide = x.shape[-2] < x.shape[-1]
        tall = x.mT if is_wide else x
        q = _by_reflections(tall) if self.orthogonal_map == "householder" else self._by_skew_matrix(tall)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if is_wide else q

    def _by_skew_matrix(self, x: Tensor) -> Tensor:
        rows, columns = x.shape[-2:]
        lower = x.tril()
        if rows != columns:
            lower = cat([lower, x.new_zeros((*x.shape[:-1], rows - columns))], -1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            q = matrix_exp(skew)
        else:
            identity = eye(rows, dtype=x.dtype)
            q = solve(identity - skew / 2, identity + skew / 2)
        return q[..., :columns]

    def right_inverse(self, q: Tensor) -> Tensor:
        """A matrix that forward() maps to q; a q that is not orthogonal is orthogonalized first, if possible."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        is_wide = q.shape[-2] < q.shape[-1]
        with no_grad():
            tall = q.mT if is_wide else q
            if hasattr(self, "base"):
                self.base = _square(tall)
                start = zeros_like(q)
                start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
                return start
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            reflections, factors = geqrf(tall)
            diagonal = reflections.diagonal(dim1=-2, dim2=-1)
            diagonal.copy_(diagonal.sign() * (1 - 2 * (factors == 0)))
            return reflections.mT if is_wide else reflections


def _by_reflections(x: Tensor) -> Tensor:
    below = x.tril(-1)
    factors = 2.0 / (1.0 + (below * below).sum(-2))
    return householder_product(below, factors) * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)


def _square(tall: Tensor) -> Tensor:
    """An orthogonal square matrix that begins with the columns of a matrix, as far as they are orthogonal."""
    rows, columns = tall.shape[-2:]
    if rows == columns:
        return tall.clone() if _is_orthogonal(tall) else _made_orthogonal(tall)
    more = randn(*tall.shape[:-1], rows - columns, dtype=tall.dtype)
    return _made_orthogonal(cat([tall, more], -1))


def _is_orthogonal(q: Tensor) -> bool:
    rows, columns = q.shape[-2:]
    tolerance = 10.0 * rows * finfo(q.dtype).eps
    return allclose(q.mH @ q, eye(columns, dtype=q.dtype), atol=tolerance)


def _made_orthogonal(a: Tensor) -> Tensor:
    reflections, factors = geqrf(a)
    q = householder_product(reflections, factors)
    return q * reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
