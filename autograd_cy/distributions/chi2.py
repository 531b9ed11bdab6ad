"""Chi-squared distributions (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all, lazy_property

__all__ = ["Chi2"]


class Chi2(Gamma):
    """``Chi2(df)``: of the sum of the squares of `df` normal numbers, which is Gamma(df / 2, 1 / 2).

    >>> import autograd_cy as ag
    >>> ag.distributions.Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None):
        self._degrees, self.rate = broadcast_all(df, 0.5)
        Distribution.__init__(self, self._degrees.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._degrees, new.rate = self._degrees.expand(batch_shape), self.rate.expand(batch_shape)
        return new

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._degrees

    @lazy_property
    def concentration(self) -> Tensor:
        """Half of the degrees of freedom."""
        return self._degrees / 2
