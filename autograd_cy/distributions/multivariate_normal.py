"""Normal distributions of vectors (facade)."""

import math
from typing import Any

from .. import _names as _ops
from .. import linalg
from .._core.graph.tensor import Tensor
from .._creation import eye
from .._questions import broadcast_shapes
from .._size import Size
from . import constraints
from ._formulas import half_log_det as _half_log_det
from ._formulas import standardized as _standardized
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """``MultivariateNormal(loc, covariance_matrix)``, or ``precision_matrix=``, or ``scale_tril=``, its Cholesky factor.

    loc is (..., n), the matrix (..., n, n); rsample is loc + scale_tril @ noise.

    >>> import autograd_cy as ag
    >>> ag.distributions.MultivariateNormal(ag.zeros(2), ag.eye(2)).log_prob(ag.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: matrix for name, matrix in matrices.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(batch + loc.shape[-1:])
        vars(self)[name] = matrix.expand(batch + matrix.shape[-2:])
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance."""
        if "covariance_matrix" in vars(self):
            return linalg.cholesky(self.covariance_matrix)
        # The factor of the matrix with both axes reversed, reversed, is the transposed inverse of ours.
        factor = linalg.cholesky(self.precision_matrix.flip(-2, -1)).flip(-2, -1).mT
        identity = eye(self.loc.shape[-1], dtype=self.loc.dtype)
        return linalg.solve_triangular(factor, identity, upper=False)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self.scale_tril @ self.scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return _ops.cholesky_inverse(self.scale_tril)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        noise = self.loc.new_empty(self._extended_shape(sample_shape)).normal_()
        return self.loc + (self.scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        squares = _standardized(self.scale_tril, value - self.loc).pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares) - _half_log_det(self.scale_tril)

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + _half_log_det(self.scale_tril)
