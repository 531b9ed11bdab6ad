"""Fisher-Snedecor distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from .._types.limits import finfo
from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """``FisherSnedecor(df1, df2)``: the F distribution, of (x1 / df1) / (x2 / df2), where xi is drawn from Chi2(dfi).

    >>> import autograd_cy as ag
    >>> ag.distributions.FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, math.nan)

    @property
    def mode(self) -> Tensor:
        inside = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return inside.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        m, n = self.df1, self.df2
        finite = 2 * n.pow(2) * (m + n - 2) / (m * (n - 2).pow(2) * (n - 4))
        return finite.masked_fill(n <= 4, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        tiny = finfo(self.df1.dtype).tiny
        halves = self.df1 / 2, self.df2 / 2
        above, below = (Gamma(half, half, validate_args=False).rsample(sample_shape) for half in halves)
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        constant = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log()
        return constant + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
