"""Gumbel distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._size import Size
from .._types import finfo
from ._formulas import EULER as _EULER
from ._location_scale import LocationScale as _LocationScale

__all__ = ["Gumbel"]


class Gumbel(_LocationScale):
    """``Gumbel(loc, scale)``: of the largest of many numbers; `loc` is the mode.

    >>> import autograd_cy as ag
    >>> ag.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * _EULER

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        kind = finfo(self.loc.dtype)
        draws = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(kind.tiny, 1 - kind.eps)
        return self.loc - self.scale * (-draws.log()).log()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + _EULER)
