"""Half-Cauchy distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from ._folded import Folded as _Folded
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(_Folded):
    """``HalfCauchy(scale)``: of abs(x), where x is drawn from Cauchy(0, scale); it has no mean.

    >>> import autograd_cy as ag
    >>> ag.distributions.HalfCauchy(1.0).cdf(ag.tensor(1.0))
    tensor(0.5000)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Cauchy(0.0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.variance

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance
