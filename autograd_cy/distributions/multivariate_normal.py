"""Normal distributions of vectors (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._functional.queries import broadcast_shapes
from .._types import Size
from . import constraints
from ._by_matrix import ByMatrix as _ByMatrix
from ._by_matrix import given_of as _given_of
from ._formulas import half_log_det as _half_log_det
from ._formulas import standardized as _standardized
from ._noise import noise as _noise

__all__ = ["MultivariateNormal"]


class MultivariateNormal(_ByMatrix):
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
        given = _given_of(covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril)
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = Size(broadcast_shapes(matrix.shape[:-2], loc.shape[:-1]))
        self.loc = loc.expand(batch + loc.shape[-1:])
        self._take(given, batch)
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        noise = _noise(self.loc, self._extended_shape(sample_shape), Tensor.normal_)
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        factor = self._unbroadcasted_scale_tril
        squares = _standardized(factor, value - self.loc).pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares) - _half_log_det(factor)

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + _half_log_det(self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape)
