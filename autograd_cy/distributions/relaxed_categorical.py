"""Continuous relaxations of categorical distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from . import constraints
from ._noise import noise as _noise
from .categorical import Categorical
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """``ExpRelaxedCategorical(temperature, probs=None, logits=None)``: of the logarithms of RelaxedOneHotCategorical.

    >>> import autograd_cy as ag
    >>> from autograd_cy.distributions.relaxed_categorical import ExpRelaxedCategorical
    >>> ExpRelaxedCategorical(ag.tensor(0.5), ag.tensor([0.2, 0.8])).event_shape
    torch.Size([2])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @property
    def logits(self) -> Tensor:
        """Normalized logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """Normalized probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        logits = self.logits.expand(self._extended_shape(sample_shape))
        gumbel = -(-clamp_probs(_noise(logits, logits.shape, Tensor.uniform_)).log()).log()
        return ((logits + gumbel) / self.temperature).log_softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.event_shape[0], self.logits
        _, temperature = broadcast_all(logits[..., 0], self.temperature)
        scores = (logits - value * self.temperature).log_softmax(-1)
        return scores.sum(-1) + logits.new_tensor(float(n)).lgamma() + (n - 1) * temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """``RelaxedOneHotCategorical(temperature, probs=None, logits=None)``: vectors that sum to 1, near corners when it is cold.

    Draws have gradients: Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", 2017.

    >>> import autograd_cy as ag
    >>> draw = ag.distributions.RelaxedOneHotCategorical(ag.tensor(0.5), ag.tensor([0.2, 0.3, 0.5])).rsample()
    >>> round(draw.sum().item(), 4)
    1.0
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """The lower, the nearer to vectors with a single 1."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Normalized logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Normalized probabilities."""
        return self.base_dist.probs
