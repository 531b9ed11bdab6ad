"""Logistic-normal distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """``LogisticNormal(loc, scale)``: over (..., n + 1) vectors that sum to 1, of (..., n) normal logits of stick breaking.

    >>> import autograd_cy as ag
    >>> ag.distributions.LogisticNormal(ag.zeros(3), 1.0).event_shape
    torch.Size([4])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base = Normal(loc, scale, validate_args=validate_args)
        vector = base if base.batch_shape else base.expand((1,))
        super().__init__(vector, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the logits."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the logits."""
        return self.base_dist.base_dist.scale
