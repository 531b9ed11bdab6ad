"""Distributions of correlation matrices (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import zeros_like
from .._creation.sequences import arange
from .._functional import names as _ops
from .._types import Size
from .._types.limits import finfo
from ..autograd.grad_mode import no_grad
from . import constraints
from ._noise import noise as _noise
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """``LKJCholesky(dim, concentration=1.0)``: of the lower Cholesky factors of (dim, dim) correlation matrices.

    The density of a correlation matrix is its determinant to the power of `concentration` - 1: with 1, all are alike.
    Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines and extended onion method", 2009.
    ValueError for dim < 2.

    >>> import autograd_cy as ag
    >>> d = ag.distributions.LKJCholesky(3, 0.5)
    >>> d.sample((2,)).shape, d.log_prob(ag.eye(3))
    (torch.Size([2, 3, 3]), tensor(-2.5310))
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Row i is a point of the unit sphere: the square of the length of its first i numbers is a beta number."""
        with no_grad():
            before = arange(1, self.dim, dtype=self.concentration.dtype)
            rest = self.concentration.unsqueeze(-1) + (self.dim - 1 - before) / 2
            squares = Beta((before / 2).expand(rest.shape), rest, validate_args=False).sample(sample_shape)
            points = _noise(squares, (*squares.shape[:-1], self.dim, self.dim), Tensor.normal_).tril(-1)[..., 1:, :]
            points = points / points.norm(dim=-1, keepdim=True) * squares.sqrt().unsqueeze(-1)
            rows = _ops.cat([zeros_like(points[..., :1, :]), points], -2)
            diagonal = (1 - rows.square().sum(-1)).clamp(min=finfo(rows.dtype).tiny).sqrt()
            return rows + diagonal.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        after = self.dim - arange(2, self.dim + 1, dtype=self.concentration.dtype)
        powers = after + 2 * (self.concentration.unsqueeze(-1) - 1)
        weighted = (powers * value.diagonal(dim1=-2, dim2=-1)[..., 1:].log()).sum(-1)
        n, half = self.dim - 1, self.concentration + (self.dim - 1) / 2
        constant = (half - 0.5).mvlgamma(n) - n * half.lgamma()
        return weighted - constant - 0.5 * n * math.log(math.pi)
