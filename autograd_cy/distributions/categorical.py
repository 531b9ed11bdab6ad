"""Categorical distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.sequences import arange
from .._functional import names as _ops
from .._random.sampling import multinomial
from .._types import Size
from .._types.limits import finfo
from . import constraints
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical"]


class Categorical(Distribution):
    """``Categorical(probs)`` or ``Categorical(logits=...)``: indices of the last dimension, int64. Both get normalized.

    >>> import autograd_cy as ag
    >>> ag.distributions.Categorical(ag.tensor([1.0, 3.0])).log_prob(ag.tensor(1)).exp()
    tensor(0.7500)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        assert given is not None  # for type checkers
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        self._parameter, self._unnormalized = name, given
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._unnormalized = self._unnormalized.expand(Size(batch_shape) + (self._num_events,))
        return new

    def _given(self) -> list[str]:
        return [self._parameter]

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        """The indices."""
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """Normalized logarithms of the probabilities."""
        given = self._unnormalized
        return probs_to_logits(self.probs) if self._parameter == "probs" else given.log_softmax(-1)

    @lazy_property
    def probs(self) -> Tensor:
        """Normalized probabilities."""
        given = self._unnormalized
        return logits_to_probs(self.logits) if self._parameter == "logits" else given / given.sum(-1, keepdim=True)

    @property
    def _param(self) -> Tensor:
        """The one that is given, normalized."""
        return getattr(self, self._parameter)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._batch_shape + (self._num_events,)

    @property
    def mean(self) -> Tensor:
        return self.probs.detach()[..., 0] * math.nan

    @property
    def variance(self) -> Tensor:
        return self.mean

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        if not rows.shape[0] or not shape.numel():
            return arange(0).reshape(self._extended_shape(shape))
        return multinomial(rows, shape.numel(), True).T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        index, logits = _ops.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logits.clamp(min=finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(arange(self._num_events), expand)
