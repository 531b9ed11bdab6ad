"""Generalized Pareto distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from . import constraints
from ._formulas import expm1_over as _expm1_over
from ._formulas import log1p_over as _log1p_over
from ._noise import noise as _noise
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """``GeneralizedPareto(loc, scale, concentration)``: of what numbers exceed a high threshold `loc` by.

    The share beyond x is (1 + k z) ** (-1 / k) with z = (x - loc) / scale and k the concentration: an exponential
    distribution for 0, with an end at loc - scale / k below 0, with a heavy tail above. Pickands, "Statistical inference using
    extreme order statistics", 1975.

    >>> import autograd_cy as ag
    >>> ag.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        """From `loc` on, to the end where there is one."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, end.masked_fill(self.concentration >= 0, math.inf))

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return (self.loc + self.scale / (1 - k)).masked_fill(k >= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        finite = self.scale.square() / ((1 - k).square() * (1 - 2 * k))
        return finite.masked_fill(k >= 0.5, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self._at(_noise(self.loc, self._extended_shape(sample_shape), Tensor.exponential_))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -self.scale.log() - (1 + self.concentration) * self._hazard(value)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """``log_survival_function(value)``: the logarithm of the probability of values beyond this one."""
        if self._validate_args:
            self._validate_sample(value)
        return -self._hazard(value)

    def log_cdf(self, value: Tensor) -> Tensor:
        """``log_cdf(value)``: the logarithm of cdf()."""
        return (-self.log_survival_function(value).expm1()).log()

    def cdf(self, value: Tensor) -> Tensor:
        return -self.log_survival_function(value).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self._at(-(-value).log1p())

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1

    def _hazard(self, value: Tensor) -> Tensor:
        """log(1 + k z) / k, which is z for k = 0: minus the logarithm of the share beyond a value."""
        z = (value - self.loc) / self.scale
        return z * _log1p_over(self.concentration * z)

    def _at(self, hazard: Tensor) -> Tensor:
        """The value with this hazard: loc + scale (exp(k h) - 1) / k."""
        return self.loc + self.scale * hazard * _expm1_over(self.concentration * hazard)
