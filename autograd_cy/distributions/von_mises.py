"""Von Mises distributions (facade)."""

import math
from typing import Any

import numpy as np

from .. import special
from .._core.graph.tensor import Tensor
from .._random.sampling import _drawn
from .._types import Size
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["VonMises"]


class VonMises(Distribution):
    """``VonMises(loc, concentration)``: of angles from -pi to pi about `loc`, the larger the concentration the nearer.

    The variance is the circular one, 1 - I1(concentration) / I0(concentration).

    >>> import autograd_cy as ag
    >>> ag.distributions.VonMises(ag.tensor(0.0), ag.tensor(2.0)).log_prob(ag.tensor(0.0))
    tensor(-0.6619)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return 1 - special.i1e(k) / special.i0e(k)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        def draw(source: np.random.Generator, loc: np.ndarray, concentration: np.ndarray) -> np.ndarray:
            angles = source.vonmises(0.0, concentration.astype(np.float64)) + loc
            return (angles + math.pi) % (2 * math.pi) - math.pi

        shape = self._extended_shape(sample_shape)
        parameters = tuple(p.detach().expand(shape) for p in (self.loc, self.concentration))
        return _drawn("vonmises", None, draw, parameters, None)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        half = ((value - self.loc) / 2).sin()  # cos(d) - 1 = -2 sin(d / 2) ** 2 keeps its digits next to the mode
        return -2 * k * half * half - math.log(2 * math.pi) - special.i0e(k).log()
