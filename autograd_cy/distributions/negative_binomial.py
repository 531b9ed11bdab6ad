"""Negative binomial distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._random.sampling import poisson
from .._types import Size
from ..autograd.grad_mode import no_grad
from . import constraints
from ._by_probability import ByProbability as _ByProbability
from ._by_probability import given_of as _given_of
from ._formulas import softplus as _softplus
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(_ByProbability):
    """``NegativeBinomial(total_count, probs=None, logits=None)``: how many trials succeed before so many have failed.

    `total_count` may be any number that is not negative: a Poisson number, whose rate is Gamma(total_count, exp(-logits)).

    >>> import autograd_cy as ag
    >>> ag.distributions.NegativeBinomial(3.0, 0.5).variance
    tensor(6.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, given = _given_of(probs, logits)
        count, vars(self)[name] = broadcast_all(total_count, given)
        self.total_count = count.type_as(vars(self)[name])
        Distribution.__init__(self, self.total_count.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / self._rest

    @lazy_property
    def _gamma(self) -> Gamma:
        """The distribution of the rates."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            return poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, x = self.total_count, self.logits
        total = n + value
        ways = total.lgamma() - (value + 1).lgamma() - n.lgamma()
        return ways.masked_fill(total == 0, 0) - n * _softplus(x) - value * _softplus(-x)
