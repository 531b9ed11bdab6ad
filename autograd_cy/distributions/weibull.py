"""Weibull distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import ones_like
from .._types import Size
from . import constraints
from ._formulas import EULER as _EULER
from ._noise import noise as _noise
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, lazy_property

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """``Weibull(scale, concentration)``: of scale * x ** (1 / concentration), where x is drawn from Exponential(1).

    >>> import autograd_cy as ag
    >>> ag.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(ones_like(self.scale.detach()), validate_args=validate_args)
        transforms = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @lazy_property
    def concentration_reciprocal(self) -> Tensor:
        """1 / concentration."""
        return self.concentration.reciprocal()

    @property
    def mean(self) -> Tensor:
        return self.scale * (1 + self.concentration.reciprocal()).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        power = self.concentration.reciprocal()
        return self.scale.pow(2) * ((1 + 2 * power).lgamma().exp() - (2 * (1 + power).lgamma()).exp())

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        drawn = _noise(self.scale, self._extended_shape(sample_shape), Tensor.exponential_)
        return self.scale * drawn ** self.concentration.reciprocal()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k, logarithm = self.concentration, (value / self.scale).log()
        return k.log() - self.scale.log() + (k - 1) * logarithm - (k * logarithm).exp()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -(-((value / self.scale) ** self.concentration)).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-(-value).log1p()) ** self.concentration.reciprocal()

    def entropy(self) -> Tensor:
        power = self.concentration.reciprocal()
        return _EULER * (1 - power) + (self.scale * power).log() + 1
