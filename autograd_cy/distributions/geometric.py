"""Geometric distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import zeros_like
from .._types import Size
from .._types.limits import finfo
from . import constraints
from ._by_probability import ByProbability as _ByProbability
from ._formulas import holds as _holds
from ._formulas import softplus as _softplus
from ._noise import noise as _noise

__all__ = ["Geometric"]


class Geometric(_ByProbability):
    """``Geometric(probs)`` or ``Geometric(logits=...)``: how many trials fail before the first that succeeds.

    >>> import autograd_cy as ag
    >>> ag.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not _holds(self.probs > 0):
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of distribution {self!r} to be "
                f"positive but found invalid values:\n{self.probs.detach()[~(self.probs > 0)]}"
            )

    @property
    def mean(self) -> Tensor:
        return self._rest / self.probs

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return self._rest / self.probs / self.probs

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        probs = self.probs.detach()
        draws = _noise(probs, self._extended_shape(sample_shape), Tensor.uniform_, finfo(probs.dtype).tiny, 1)
        return (draws.log() / (-probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        if "probs" not in vars(self):
            return value * self._log_rest - _softplus(-self.logits)
        certain = (self.probs == 1) & (value == 0)  # where 0 * log(0) is 0
        return value * (-self.probs.masked_fill(certain, 0)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return self._entropy_of_trial() / self.probs
