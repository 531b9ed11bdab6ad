"""Multinomial distributions (facade)."""

import math
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._functional import names as _ops
from .._random.sampling import _drawn
from .._types import Size
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """``Multinomial(total_count=1, probs=None, logits=None)``: how often each category comes in so many draws.

    Values are (..., k), of the dtype of the probabilities. NotImplementedError for counts that are not one number; log_prob
    takes any, where validate_args is False.

    >>> import autograd_cy as ag
    >>> d = ag.distributions.Multinomial(4, ag.tensor([1.0, 3.0]))
    >>> d.mean, d.log_prob(ag.tensor([4.0, 0.0]))
    (tensor([1., 3.]), tensor(-5.5452))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count, self._categorical = total_count, Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> constraints.Constraint:
        """Counts with this sum."""
        return constraints.multinomial(self.total_count)

    @property
    def logits(self) -> Tensor:
        """Normalized logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """Normalized probabilities."""
        return self._categorical.probs

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        def draw(source: np.random.Generator, probs: np.ndarray) -> np.ndarray:
            exact = probs.astype(np.float64)
            return source.multinomial(self.total_count, exact / exact.sum(-1, keepdims=True))

        probs = self.probs.detach()
        return _drawn("multinomial", None, draw, (probs.expand(self._extended_shape(sample_shape)),), None)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = _ops.broadcast_tensors(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n = self.probs.new_tensor(float(self.total_count))
        counts = Binomial(self.total_count, self.probs, validate_args=False)  # of each category
        some = counts.enumerate_support(expand=False)[1:]
        ways = (counts.log_prob(some).exp() * (some + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - (n + 1).lgamma() + ways
