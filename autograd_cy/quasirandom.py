"""Sobol points, under the name of torch.quasirandom (facade). SciPy computes them: the extra `scipy`."""

import warnings
from typing import Any

import numpy as np

from ._core.arrays import dtypes as _dtypes
from ._core.graph.tensor import Tensor
from ._core.runtime.entry import public as _public
from ._creation import integer as _integer
from ._creation.data import from_numpy
from .random import randint

__all__ = ["SobolEngine"]


class SobolEngine:
    """``SobolEngine(dimension)``: points that fill the unit cube [0, 1)^dimension evenly; draw(n) returns the next n.

    Those of PyTorch, unless they are scrambled: then they are SciPy's for this seed (by default one from the random numbers of
    the package, so that manual_seed() repeats them). 21201 dimensions at most, else ValueError; ImportError without SciPy.

    >>> import autograd_cy as ag
    >>> ag.quasirandom.SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])

    Source: Joe and Kuo, Constructing Sobol sequences with better two-dimensional projections (2008).
    """

    MAXBIT = 30
    MAXDIM = 21201

    @_public
    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None):
        if not 0 < dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        try:
            from scipy.stats.qmc import Sobol
        except ImportError:
            raise ImportError("SobolEngine needs SciPy: pip install 'autograd_cy[scipy]'") from None
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        drawn = int(randint(2**31, ()).item()) if scramble and seed is None else seed or 0
        self._points = Sobol(dimension, scramble=scramble, bits=self.MAXBIT, seed=np.random.default_rng(drawn))

    @property
    def num_generated(self) -> int:
        """How many points were drawn or passed over since the start, or since reset()."""
        return int(self._points.num_generated)

    @_public
    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """``draw(n)``: the next n points, a tensor of n rows; written into `out`, which gets that shape, if there is one."""
        kind = _dtypes.get_default() if dtype is None else _dtypes.convert(dtype)
        if not kind.is_floating_point:
            raise NotImplementedError(f"SobolEngine.draw(): points are of a floating point dtype, not of {kind}")
        if n < 0:
            raise RuntimeError(f"SobolEngine.draw(): expected a number of points that is not negative, got {n}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the first points are not a power of two
            points = self._points.random(n) if n else np.empty((0, self.dimension))
        drawn = from_numpy(points).to(kind)
        return drawn if out is None else out.resize_(drawn.shape).copy_(drawn)

    @_public
    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """``draw_base2(m)``: the next 2^m points; ValueError unless all that were drawn are a power of two, too."""
        n, before = 2**m, self.num_generated
        if (before + n) & (before + n - 1):
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {before} points have been previously "
                f"generated, then: n={before}+2**{m}={before + n}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> "SobolEngine":
        """``reset()``: start again, with the same points; returns the engine."""
        self._points.reset()
        return self

    @_public
    def fast_forward(self, n: int) -> "SobolEngine":
        """``fast_forward(n)``: pass over the next n points; returns the engine."""
        n = _integer("fast_forward", "n", n)
        if n < 0:
            raise RuntimeError(f"SobolEngine.fast_forward(): expected a number of points that is not negative, got {n}")
        if n:
            self._points.fast_forward(n)
        return self

    def __repr__(self) -> str:
        shown = [f"dimension={self.dimension}", *(["scramble=True"] if self.scramble else [])]
        return f"SobolEngine({', '.join([*shown, *([f'seed={self.seed}'] if self.seed is not None else [])])})"
