"""Gumbel distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import full_like
from .._types import Size
from .._types.limits import finfo
from . import constraints
from ._formulas import EULER as _EULER
from ._noise import noise as _noise
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """``Gumbel(loc, scale)``: of the largest of many numbers; `loc` is the mode.

    >>> import autograd_cy as ag
    >>> ag.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = broadcast_all(loc, scale)
        kind = finfo(self.loc.dtype)
        ends = full_like(self.loc.detach(), kind.tiny), full_like(self.loc.detach(), 1 - kind.eps)
        logarithm = ExpTransform().inv
        transforms = [logarithm, AffineTransform(0, -1), logarithm, AffineTransform(self.loc, -self.scale)]
        super().__init__(Uniform(*ends, validate_args=validate_args), transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * _EULER

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        kind = finfo(self.loc.dtype)
        draws = _noise(self.loc, self._extended_shape(sample_shape), Tensor.uniform_, kind.tiny, 1 - kind.eps)
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
