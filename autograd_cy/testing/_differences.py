"""Slopes of a curve by finite differences, with error estimates (facade).

Central differences at h, h/2, h/4, ... have an error that is a series in h**2, which Richardson's extrapolation removes term
by term. The distance of neighbours in its table estimates the error (Ridders 1982, Advances in Engineering Software 4,
75-76). The best estimate of each output is kept, so the step adapts to the function. The second difference divided by h
converges to zero if the curve is smooth, and to the difference of the two slopes at a kink.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Curve = Callable[[float], Array]  # a real vector for each number

LEVELS = 18  # the smallest step is the first one / 2**17
COLUMNS = 7  # of the extrapolation table: terms that are removed
CLOSER = 2.0**-7  # the last look, as a part of the last step
SURE = 10  # roundings that a difference from so near may be off
FEWEST = 3  # levels before anything is believed
EXACT = 2e-12  # an error, relative to the largest slope or value, with which more steps are a waste
SMOOTH = 1e-7  # a jump of slopes below this, relative to the largest slope, is none
SETTLED = 1e-3  # what the jump of slopes may be off, relative to the largest slope
EPSILON = float(np.finfo(float).eps)


def rounding_of(values: Array) -> float:
    """rounding_of(values): a unit in the last place of 1 in their type, float64 or longdouble."""
    return float(np.finfo(values.dtype).eps)


def finer(values: Array) -> float:
    """finer(values): the factor by which their type rounds finer than float64."""
    return rounding_of(values) / EPSILON


class Interval(NamedTuple):
    """The slope of one output: between `low` and `high`, each at most `error` off."""

    low: float
    high: float
    error: float

    def off(self, derivative: float) -> float:
        """interval.off(derivative): the distance outside of the interval; inf unless finite."""
        off = max(self.low - derivative, derivative - self.high, 0.0)
        return off if np.isfinite(off) else float("inf")


class Slope(NamedTuple):
    """The slope of each output: between `low` and `high`, each at most `error` off. They differ at a kink only."""

    low: Array
    high: Array
    error: Array  # inf if nothing is known

    @property
    def middle(self) -> Array:
        """The slope of a central difference."""
        return (self.low + self.high) / 2

    @property
    def kinked(self) -> Array:
        """Where the slopes to the left and to the right differ."""
        return np.asarray(self.low != self.high)

    @property
    def known(self) -> Array:
        """Where anything is known."""
        return np.asarray(np.isfinite(self.error))

    def weighted(self, weights: Array) -> "Interval":
        """slope.weighted(weights): the slope of the weighted sum of outputs, without outputs of unknown slope."""
        weights, known = weights[self.known], self.known
        ends = weights * self.low[known], weights * self.high[known]
        error = float(np.sum(np.abs(weights) * self.error[known]))
        return Interval(float(np.minimum(*ends).sum()), float(np.maximum(*ends).sum()), error)


def slope(curve: Curve, origin: Array, reach: float, rounding: Array | float = 0.0) -> Slope:
    """slope(curve, origin, reach, rounding): the curve's slope at 0, where its value is `origin`.

    `reach` is the first step, `rounding` the smallest error of the values.

    Steps at which the curve is not finite (a logarithm beyond zero) are skipped. If no two steps agree, as at a jump, the
    error is as large as their difference.
    """
    central, jump = Extrapolation(2, origin.shape), Extrapolation(1, origin.shape)

    def look(h: float) -> tuple[Array, Array, Array]:
        above, below = curve(h), curve(-h)
        noise = (rounding_of(above) * (np.abs(above) + np.abs(below) + np.abs(origin)) + rounding) / h
        return (above - below) / (2 * h), (above - 2 * origin + below) / h, noise

    with np.errstate(all="ignore"):
        for level in range(LEVELS):
            h = reach * 2.0**-level
            difference, second, noise = look(h)
            central.doubt(difference, noise)
            central.add(difference, noise)
            jump.add(second, 2 * noise)
            if level + 1 >= FEWEST and _settled(central, jump, origin):
                close, _, noise = look(h * CLOSER)
                if not central.doubt(close, noise):
                    break
        size = _scale(central.value)
        kinked = (np.abs(jump.value) > SMOOTH * size) & (np.abs(jump.value) > 20 * jump.error)
        half = np.where(kinked, np.abs(jump.value) / 2, 0.0)
        unsettled = ~(jump.error <= SETTLED * size)  # at a jump, the values on both sides may well agree
        error = central.error + np.where(kinked | unsettled, jump.error, 0.0)
        error = np.where(np.isfinite(origin) & np.isfinite(central.value), error, np.inf)
        middle = np.where(np.isfinite(central.value), central.value, 0.0)
    return Slope(middle - half, middle + half, error)


def _settled(central: "Extrapolation", jump: "Extrapolation", origin: Array) -> bool:
    known = np.isfinite(origin)
    size = max(_scale(central.value), _scale(origin))
    return bool((central.error[known] <= EXACT * finer(origin) * size).all() and (jump.error[known] <= SMOOTH * size).all())


def _scale(values: Array) -> float:
    """The largest finite magnitude; tiny for none."""
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max(initial=np.finfo(float).tiny))


class Extrapolation:
    """Values at h, h/2, h/4, ... taken to h = 0, their error being a series in h**first, h**(first + 2), ...

    `value` is the best so far for each entry. `error` is its difference from neighbours in the table, plus the rounding of
    the values behind it.
    """

    def __init__(self, first: int, shape: tuple[int, ...]) -> None:
        self._first = first
        self._row: list[Array] = []
        self.value, self.error = np.full(shape, np.nan), np.full(shape, np.inf)

    def doubt(self, value: Array, noise: Array) -> bool:
        """doubt(value, noise): whether a value at a smaller step is further off than the last one: then that is an error.

        With large steps, a staircase looks like a slope.
        """
        if not self._row:
            return False
        off = np.abs(value - self.value)
        wrong = off > np.abs(self._row[0] - self.value) + SURE * noise
        self.error = np.where(wrong, np.maximum(off, self.error), self.error)
        return bool(wrong.any())

    def add(self, value: Array, noise: Array) -> None:
        """add(value, noise): take in the value at the next step, and what rounding may have done to it."""
        row = [value]
        for column, above in enumerate(self._row[: COLUMNS - 1]):
            factor = 2.0 ** (self._first + 2 * column)
            better = row[column] + (row[column] - above) / (factor - 1)
            error = np.maximum(np.abs(better - row[column]), np.abs(better - above)) + 2 * noise
            best = error < self.error
            self.value, self.error = np.where(best, better, self.value), np.where(best, error, self.error)
            row.append(better)
        self._row = row


def complex_slope(value: Array) -> Array:
    """complex_slope(value): the slope of an analytic curve, from its value at `COMPLEX_STEP` times the imaginary unit.

    There is no difference, so nothing cancels: it is right to all digits (Squire and Trapp 1998, SIAM Review 40, 110-112).
    """
    return np.asarray(value.imag / COMPLEX_STEP)


COMPLEX_STEP = 1e-100


def reach_for(moved: Array) -> float:
    """reach_for(moved): a first step for coordinates like these: a part of their size, and of no round number."""
    return 0.0917 * max(_scale(moved), 0.05)
