"""Cauchy distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from ._location_scale import LocationScale as _LocationScale
from ._noise import noise as _noise

__all__ = ["Cauchy"]


class Cauchy(_LocationScale):
    """``Cauchy(loc, scale)``: of the ratio of two normal numbers, with half width `scale`; it has no mean.

    >>> import autograd_cy as ag
    >>> ag.distributions.Cauchy(0.0, 1.0).log_prob(ag.tensor(0.0)).exp()
    tensor(0.3183)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc.detach() * math.nan

    @property
    def variance(self) -> Tensor:
        return (self.loc.detach() * 0) + math.inf

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self.loc + _noise(self.loc, self._extended_shape(sample_shape), Tensor.cauchy_) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).pow(2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
