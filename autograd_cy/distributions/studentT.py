"""Student's distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from . import constraints
from ._noise import noise as _noise
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """``StudentT(df, loc=0.0, scale=1.0)``: of a normal number over the root of a Chi2(df) one over df.

    >>> import autograd_cy as ag
    >>> ag.distributions.StudentT(4.0).variance
    tensor(2.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        noise = _noise(self.loc, self._extended_shape(sample_shape), Tensor.normal_)
        spread = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * noise * (spread / self.df).rsqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        return -0.5 * (self.df + 1) * (y**2 / self.df).log1p() - self.scale.log() - self._log_constant()

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        return self.scale.log() + more * (more.digamma() - half.digamma()) + self._log_constant()

    def _log_constant(self) -> Tensor:
        """The logarithm of what the density is divided by, but for the scale."""
        return 0.5 * self.df.log() + 0.5 * math.log(math.pi) + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1)).lgamma()
