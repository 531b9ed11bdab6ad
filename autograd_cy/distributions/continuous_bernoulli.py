"""Continuous Bernoulli distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.nn.losses import binary_cross_entropy_with_logits
from .._core.ops.shapes.reshaping import broadcast_tensors
from .._types import Size
from . import constraints
from ._by_probability import ByProbability as _ByProbability
from ._by_probability import given_of as _given_of
from ._formulas import expm1_over as _expm1_over
from ._formulas import holds as _holds
from ._formulas import log1p_over as _log1p_over
from ._formulas import softplus as _softplus
from ._noise import noise as _noise
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["ContinuousBernoulli"]

# Taylor coefficients in the square of half of the logits, good to rounding up to 0.1: of log(y / tanh(y)), of the mean
# less 1/2, over the logits, and of the variance.
_LOG_NORM = (math.log(2), 1 / 3, -7 / 90, 62 / 2835, -127 / 18900, 146 / 66825)
_MEAN = (1 / 12, -1 / 180, 1 / 1890, -1 / 18900, 1 / 187110, -691 / 1277025750)
_VARIANCE = (1 / 12, -1 / 60, 1 / 378, -1 / 2700, 1 / 20790, -7601 / 1277025750)


class ContinuousBernoulli(_ByProbability, ExponentialFamily):
    """``ContinuousBernoulli(probs)`` or ``(logits=...)``: over [0, 1], with a density as probs ** x (1 - probs) ** (1 - x).

    Formulas are exact for all logits, so that `lims`, where PyTorch changes to a series, has no effect. Loaiza-Ganem and
    Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational autoencoders", 2019.

    >>> import autograd_cy as ag
    >>> ag.distributions.ContinuousBernoulli(0.5).log_prob(ag.tensor(0.3))
    tensor(0.)
    """

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._parameter, given = _given_of(probs, logits)
        (self._unclamped,) = broadcast_all(given)
        self._lims = lims
        Distribution.__init__(self, self._unclamped.shape, validate_args=validate_args)
        if self._validate_args and not _holds(self.arg_constraints[self._parameter].check(self._unclamped)):
            raise ValueError(f"The parameter {self._parameter} has invalid values")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._unclamped = self._unclamped.expand(batch_shape)
        return new

    def _given(self) -> list[str]:
        return [self._parameter]

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter as a probability, at least eps away from 0 and 1."""
        given = self._parameter == "probs"
        return clamp_probs(self._unclamped if given else logits_to_probs(self._unclamped, is_binary=True))

    @lazy_property
    def logits(self) -> Tensor:
        """The parameter as the logarithm of the odds."""
        return probs_to_logits(self.probs, is_binary=True) if self._parameter == "probs" else self._unclamped

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return _softplus(x) - _log_norm(x)

    @property
    def mean(self) -> Tensor:
        x, near = self._apart
        return (0.5 + self.logits * _series(self.logits, _MEAN)).where(near, (-(-x).expm1()).reciprocal() - x.reciprocal())

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        x, near = self._apart
        e = (-x.abs()).exp()  # 4 sinh(x / 2) ** 2 = (1 - e) ** 2 / e
        return _series(self.logits, _VARIANCE).where(near, x.pow(-2) - e / (-x.abs()).expm1().square())

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self.icdf(_noise(self.logits, self._extended_shape(sample_shape), Tensor.uniform_))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_tensors(self.logits, value)
        return _log_norm(logits) - binary_cross_entropy_with_logits(logits, value, reduction="none")

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        x, falling = self._falling
        inside = value.clamp(min=0, max=1)
        return inside * _expm1_over(falling * inside) / _expm1_over(falling) * (x.masked_fill(x <= 0, 0) * (inside - 1)).exp()

    def icdf(self, value: Tensor) -> Tensor:
        x, falling = self._falling
        p = value.where(x <= 0, 1 - value)
        found = p * _expm1_over(falling) * _log1p_over(p * falling.expm1())
        return found.where(x <= 0, 1 - found)

    def entropy(self) -> Tensor:
        return self._log_normalizer(self.logits) - self.mean * self.logits

    @property
    def _apart(self) -> tuple[Tensor, Tensor]:
        """The logits with 1 for those next to 0, and which of them are."""
        near = self.logits.abs() < 0.2
        return self.logits.masked_fill(near, 1.0), near

    @property
    def _falling(self) -> tuple[Tensor, Tensor]:
        """The logits, and the logits of x or 1 - x, whichever has a falling density."""
        x = self.logits
        return x, x.where(x <= 0, -x)

    def _cont_bern_log_norm(self) -> Tensor:
        return _log_norm(self.logits)


def _log_norm(logits: Tensor) -> Tensor:
    """The logarithm of logits / tanh(logits / 2)."""
    near = logits.abs() < 0.2
    apart = logits.masked_fill(near, 1.0)
    return _series(logits, _LOG_NORM).where(near, (apart / (apart / 2).tanh()).log())


def _series(logits: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    square = (logits / 2).square()
    total = square * 0 + coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * square + coefficient
    return total
