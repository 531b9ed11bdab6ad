"""Continuous relaxations of Bernoulli distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from . import constraints
from ._by_probability import ByProbability as _ByProbability
from ._formulas import softplus as _softplus
from ._noise import noise as _noise
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(_ByProbability):
    """``LogitRelaxedBernoulli(temperature, probs=None, logits=None)``: of the logits of RelaxedBernoulli.

    >>> import autograd_cy as ag
    >>> ag.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(ag.tensor(1.0), 0.5).log_prob(ag.tensor(0.0)).exp()
    tensor(0.2500)
    """

    support = constraints.real
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        probs = clamp_probs(self.probs.expand(self._extended_shape(sample_shape)))
        drawn = clamp_probs(_noise(probs, probs.shape, Tensor.uniform_))
        return (drawn.log() - (-drawn).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        temperature, logits = broadcast_all(self.temperature, self.logits)
        difference = logits - value * temperature
        return temperature.log() + difference - 2 * _softplus(difference)


class RelaxedBernoulli(TransformedDistribution):
    """``RelaxedBernoulli(temperature, probs=None, logits=None)``: from 0 to 1, near the ends at low temperatures.

    Draws have gradients: Maddison, Mnih and Teh, "The Concrete distribution", 2017.

    >>> import autograd_cy as ag
    >>> logits = ag.zeros(3, requires_grad=True)
    >>> ag.distributions.RelaxedBernoulli(ag.tensor(0.5), logits=logits).rsample().requires_grad
    True
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)

    @property
    def temperature(self) -> Any:
        """The lower, the nearer to 0 and 1."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of 1."""
        return self.base_dist.probs
