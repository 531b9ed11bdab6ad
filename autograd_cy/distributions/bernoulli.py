"""Bernoulli distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.nn.losses import binary_cross_entropy_with_logits
from .._core.ops.shapes.reshaping import broadcast_tensors
from .._creation.sequences import arange
from .._random.sampling import bernoulli
from .._types import Size
from . import constraints
from ._by_probability import ByProbability as _ByProbability
from ._formulas import softplus as _softplus
from .exp_family import ExponentialFamily

__all__ = ["Bernoulli"]


class Bernoulli(_ByProbability, ExponentialFamily):
    """``Bernoulli(probs)`` or ``Bernoulli(logits=...)``: 1 with this probability, else 0, in its dtype.

    >>> import autograd_cy as ag
    >>> ag.distributions.Bernoulli(0.25).variance
    tensor(0.1875)
    """

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return _softplus(x)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * self._rest

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        return bernoulli(self.probs.detach().expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_tensors(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return self._entropy_of_trial()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(arange(2, dtype=self.logits.dtype), expand)
