"""The base of distributions with probabilities or logits as parameter (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.nn.losses import binary_cross_entropy_with_logits
from .._core.ops.pointwise.pointwise import trial_entropy
from .._types import Size
from . import constraints
from ._formulas import softplus
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class ByProbability(Distribution):
    """``ByProbability(probs)`` or ``ByProbability(logits=...)``: the other one is computed on first use."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        name, given = given_of(probs, logits)
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
    def _param(self) -> Tensor:
        """The one that is given."""
        return getattr(self, self._given()[-1])

    @property
    def _rest(self) -> Tensor:
        """The probabilities of 0; from logits those next to 0 keep their digits, which 1 - probs would lose."""
        return 1 - self.probs if "probs" in vars(self) else logits_to_probs(-self.logits, is_binary=True)

    @property
    def _log_rest(self) -> Tensor:
        """Their logarithms."""
        return (-self.probs).log1p() if "probs" in vars(self) else -softplus(self.logits)

    def _entropy_of_trial(self) -> Tensor:
        """The entropy of one trial, as a sum of positive terms."""
        if "probs" in vars(self):
            return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return trial_entropy(self.logits)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._batch_shape


def given_of(probs: Any, logits: Any) -> tuple[str, Any]:
    """The one of the two that is given, and its name."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)
