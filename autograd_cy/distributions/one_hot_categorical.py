"""Categorical distributions of unit vectors (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import eye
from .._types import Size
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """``OneHotCategorical(probs)`` or ``OneHotCategorical(logits=...)``: as Categorical, but of vectors with a single 1.

    >>> import autograd_cy as ag
    >>> ag.distributions.OneHotCategorical(ag.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None):
        self._categorical = Categorical(probs, logits)
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
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._unit(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        return self._unit(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = eye(n, dtype=self.probs.dtype).view(n, *(1,) * len(self.batch_shape), n)
        return values.expand(n, *self.batch_shape, n) if expand else values

    def _unit(self, index: Tensor) -> Tensor:
        """The vectors with 1 at these places."""
        return eye(self.event_shape[0], dtype=self.probs.dtype)[index]


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """``OneHotCategoricalStraightThrough(probs)``: the gradient of a draw is passed to the probabilities.

    Bengio, Leonard and Courville, "Estimating or propagating gradients through stochastic neurons", 2013.

    >>> import autograd_cy as ag
    >>> probs = ag.tensor([0.5, 0.5], requires_grad=True)
    >>> draw = ag.distributions.OneHotCategoricalStraightThrough(probs).rsample()
    >>> (draw * ag.tensor([1.0, 3.0])).sum().backward()
    >>> probs.grad
    tensor([-1.,  1.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
