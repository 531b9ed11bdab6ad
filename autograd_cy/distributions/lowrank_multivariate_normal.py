"""Normal distributions of vectors whose covariance is diagonal but for a few directions (facade)."""

import math
from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from .._creation.filled import eye
from .._functional.queries import broadcast_shapes
from .._types import Size
from . import constraints
from ._formulas import half_log_det as _half_log_det
from ._formulas import standardized as _standardized
from ._lazy_attribute import lazy_attribute as _lazy_attribute
from ._noise import noise as _noise
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """``LowRankMultivariateNormal(loc, cov_factor, cov_diag)``: with the covariance W W^T + diag(d) for these two.

    loc and d are (..., n), W is (..., n, m). log_prob() solves systems of m numbers, by Woodbury's identity.
    ValueError for shapes that don't fit.

    >>> import autograd_cy as ag
    >>> d = ag.distributions.LowRankMultivariateNormal(ag.zeros(2), ag.tensor([[1.0], [0.0]]), ag.ones(2))
    >>> d.covariance_matrix
    tensor([[2., 0.],
            [0., 1.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        batch = Size(broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        super().__init__(batch, event, validate_args=validate_args)

    @_lazy_attribute
    def _capacitance_tril(self) -> Tensor:
        """The lower triangular factor of 1 + W^T D^-1 W."""
        factor, diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        identity = eye(factor.shape[-1], dtype=factor.dtype)
        return linalg.cholesky(identity + factor.mT @ (factor / diag.unsqueeze(-1)))

    @lazy_property
    def _unbroadcasted_scale_tril(self) -> Tensor:
        return linalg.cholesky(self._dense(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._dense(self.cov_factor, self.cov_diag)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        factor, diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        scaled = linalg.solve_triangular(self._capacitance_tril, factor.mT / diag.unsqueeze(-2), upper=False)
        inverse = diag.reciprocal().diag_embed() - scaled.mT @ scaled
        return inverse.expand(self._batch_shape + self._event_shape * 2)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.cov_factor.square().sum(-1) + self.cov_diag

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        along = _noise(self.loc, (*shape[:-1], self.cov_factor.shape[-1], 1), Tensor.normal_)
        noise = _noise(self.loc, shape, Tensor.normal_)
        return self.loc + (self.cov_factor @ along).squeeze(-1) + self.cov_diag.sqrt() * noise

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = self._squared_distance(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(self._batch_shape)

    def _squared_distance(self, vectors: Tensor) -> Tensor:
        """v^T (W W^T + D)^-1 v."""
        scaled = vectors / self._unbroadcasted_cov_diag
        along = (self._unbroadcasted_cov_factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        return (vectors * scaled).sum(-1) - _standardized(self._capacitance_tril, along).square().sum(-1)

    def _half_log_det(self) -> Tensor:
        """Half the logarithm of the determinant of the covariance."""
        return _half_log_det(self._capacitance_tril) + 0.5 * self._unbroadcasted_cov_diag.log().sum(-1)

    @staticmethod
    def _dense(factor: Tensor, diag: Tensor) -> Tensor:
        return factor @ factor.mT + diag.diag_embed()
