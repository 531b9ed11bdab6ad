"""Half-normal distributions (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from ._folded import Folded as _Folded
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(_Folded):
    """``HalfNormal(scale)``: of abs(x), where x is drawn from Normal(0, scale).

    >>> import autograd_cy as ag
    >>> ag.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Normal(0.0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
