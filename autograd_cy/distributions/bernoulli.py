"""Bernoulli distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._distributions import bernoulli
from .._sequences import arange
from .._size import Size
from . import constraints
from ._formulas import softplus as _softplus
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Bernoulli"]


class Bernoulli(Distribution):
    """``Bernoulli(probs)`` or ``Bernoulli(logits=...)``: 1 with this probability, else 0, in its dtype.

    >>> import autograd_cy as ag
    >>> ag.distributions.Bernoulli(0.25).variance
    tensor(0.1875)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        (vars(self)[name],) = broadcast_all(given)
        super().__init__(vars(self)[name].shape, validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities of 1."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._batch_shape

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        return bernoulli(self.probs.detach().expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return value * self.logits - _softplus(self.logits)

    def entropy(self) -> Tensor:
        return _softplus(self.logits) - self.probs * self.logits

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(arange(2, dtype=self.logits.dtype), expand)
