"""Mixtures of distributions of one family (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from ..autograd.grad_mode import no_grad
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """``MixtureSameFamily(mixture_distribution, component_distribution)``: of a draw of the component that was drawn.

    A Categorical draws which of the last batch dimension of the components. ValueError for shapes that don't fit.

    >>> import autograd_cy as ag
    >>> from autograd_cy.distributions import Categorical, MixtureSameFamily, Normal
    >>> mixture = MixtureSameFamily(Categorical(ag.ones(2)), Normal(ag.tensor([-1.0, 1.0]), 1.0))
    >>> mixture.mean, mixture.variance
    (tensor(0.), tensor(2.))
    """

    arg_constraints: Any = {}

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        mixed, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any(1 != i != j != 1 for i, j in zip(reversed(mixed), reversed(batch), strict=False)):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with "
                f"`component_distribution.batch_shape`({batch})"
            )
        count, drawn = component_distribution.batch_shape[-1], mixture_distribution.param_shape[-1]
        if count != drawn:
            raise ValueError(
                f"`mixture_distribution component` ({drawn}) does not equal `component_distribution.batch_shape[-1]` ({count})"
            )
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        count = self.component_distribution.batch_shape[-1]
        new._component_distribution = self.component_distribution.expand(Size(batch_shape) + (count,))
        new._mixture_distribution = self.mixture_distribution.expand(batch_shape)
        return new

    @property
    def mixture_distribution(self) -> Categorical:
        """Of which component is drawn."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """Of what the components draw."""
        return self._component_distribution

    @constraints.dependent_property
    def support(self) -> constraints.Constraint:
        """The values that the components can draw."""
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

    @property
    def mean(self) -> Tensor:
        return self._mixed(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        parts = self.component_distribution
        return self._mixed(parts.variance + (parts.mean - self._apart(self.mean)).pow(2))

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            event, dim = (1,) * len(self.event_shape), len(sample_shape) + len(self.batch_shape)
            index = self.mixture_distribution.expand(self.batch_shape).sample(sample_shape)
            index = index.reshape(*index.shape, 1, *event).expand(*index.shape, 1, *self.event_shape)
            return self.component_distribution.sample(sample_shape).gather(dim, index).squeeze(dim)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        each = self.component_distribution.log_prob(self._apart(value))
        return (each + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def cdf(self, value: Tensor) -> Tensor:
        return (self.component_distribution.cdf(self._apart(value)) * self.mixture_distribution.probs).sum(-1)

    def _apart(self, value: Tensor) -> Tensor:
        """The value with a dimension for the components."""
        return value.unsqueeze(-1 - len(self.event_shape))

    def _mixed(self, parts: Tensor) -> Tensor:
        """The average over components."""
        probs = self.mixture_distribution.probs
        return (probs.reshape(*probs.shape, *(1,) * len(self.event_shape)) * parts).sum(-1 - len(self.event_shape))

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution!r},\n  {self.component_distribution!r})"
