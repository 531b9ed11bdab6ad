"""Binomial distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.sequences import arange
from .._random.sampling import binomial
from .._types import Size
from . import constraints
from ._by_probability import ByProbability as _ByProbability
from ._by_probability import given_of as _given_of
from ._formulas import softplus as _softplus
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Binomial"]


class Binomial(_ByProbability):
    """``Binomial(total_count=1, probs=None, logits=None)``: how many of so many trials succeed.

    NotImplementedError for the entropy, and for all values, of counts that are not one and the same.

    >>> import autograd_cy as ag
    >>> ag.distributions.Binomial(4, 0.25).mean
    tensor(1.)
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, given = _given_of(probs, logits)
        count, vars(self)[name] = broadcast_all(total_count, given)
        self.total_count = count.to(vars(self)[name].dtype)  # which stays as it is where the parameter is batched
        Distribution.__init__(self, self.total_count.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        """Integers up to the count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * self._rest

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return binomial(self.total_count.expand(shape), self.probs.detach().expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways - value * _softplus(-self.logits) - (n - value) * _softplus(self.logits)

    def entropy(self) -> Tensor:
        log_prob = self.log_prob(self._values("entropy", False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._values("enumerate_support", expand)

    def _values(self, asked: str, expand: bool) -> Tensor:
        count = int(self.total_count.detach().max())
        if self.total_count.min() != count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asked}`.")
        return self._enumerated(arange(1 + count, dtype=self.total_count.dtype), expand)
