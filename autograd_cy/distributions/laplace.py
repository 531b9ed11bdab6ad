"""Laplace distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from .._types.limits import finfo
from ._location_scale import LocationScale as _LocationScale
from ._noise import noise as _noise

__all__ = ["Laplace"]


class Laplace(_LocationScale):
    """``Laplace(loc, scale)``: the density falls as exp(-abs(x - loc) / scale) on both sides.

    >>> import autograd_cy as ag
    >>> ag.distributions.Laplace(0.0, 1.0).log_prob(ag.tensor(2.0))
    tensor(-2.6931)
    """

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        eps = finfo(self.loc.dtype).eps
        u = _noise(self.loc, self._extended_shape(sample_shape), Tensor.uniform_, eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs().clamp(max=1 - eps / 2)).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * (-distance.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        centred = value - 0.5
        return self.loc - self.scale * centred.sign() * (-2 * centred.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()
