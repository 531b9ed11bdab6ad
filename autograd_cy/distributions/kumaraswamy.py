"""Kumaraswamy distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import full_like
from .._types import Size
from . import constraints
from ._formulas import EULER as _EULER
from ._noise import noise as _noise
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """``Kumaraswamy(concentration1, concentration0)``: over [0, 1], with cdf(x) = 1 - (1 - x ** a) ** b for these two.

    Kumaraswamy, "A generalized probability density function for double-bounded random processes", 1980.

    >>> import autograd_cy as ag
    >>> ag.distributions.Kumaraswamy(1.0, 3.0).mean
    tensor(0.2500)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        self.concentration1, self.concentration0 = a, b = broadcast_all(concentration1, concentration0)
        base = Uniform(full_like(a.detach(), 0), full_like(a.detach(), 1), validate_args=validate_args)
        transforms = [PowerTransform(b.reciprocal()), AffineTransform(1.0, -1.0), PowerTransform(a.reciprocal())]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        inside = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return inside.masked_fill((a < 1) | (b < 1) | ((a == 1) & (b == 1)), math.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self._moment(1).square()

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        rest = _noise(self.concentration1, self._extended_shape(sample_shape), Tensor.exponential_)
        return (-(-rest / self.concentration0).expm1()) ** self.concentration1.reciprocal()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return (a * b).log() + value.log().mul(a - 1) + (b - 1) * self._log_rest(value)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -(self.concentration0 * self._log_rest(value)).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return (-((-value).log1p() / self.concentration0).expm1()) ** self.concentration1.reciprocal()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        mean_log = (b + 1).digamma() + _EULER  # of 1 / x ** a
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * mean_log - a.log() - b.log()

    def _log_rest(self, value: Tensor) -> Tensor:
        """log(1 - x ** a), with all digits next to 1."""
        return (-(self.concentration1 * value.log()).expm1()).log()

    def _moment(self, n: int) -> Tensor:
        """The mean of x ** n."""
        b, share = self.concentration0, 1 + n / self.concentration1
        return (b.log() + share.lgamma() + b.lgamma() - (share + b).lgamma()).exp()
