"""Comparison of gradients and tangents with slopes: entry by entry, or along random directions (facade).

A derivative agrees with a slope if it lies between the slopes to the left and to the right, within their error. A mismatch
counts only if other steps show it too, and if it exceeds the effect of rounding on the derivative itself.
"""

import math
from typing import NamedTuple

import numpy as np

from ._differences import Array, Slope, finer, rounding_of
from ._point import NEARBY, Point, from_real, nearby, real_size, to_real

SAFETY = 10.0  # multiples of its error estimate that a slope may be off
ROUNDING = 2e-11  # relative to the size of a row: smaller differences count as rounding
FEWEST_DIGITS = 4  # of a slope that can support a verdict
FLAT = 1e-6  # a slope below this, relative to the function's value, counts as zero
MOST = 64  # mismatches that are kept
OTHER_REACH = 0.37  # the other steps, as a part of the first ones


class Mismatch(NamedTuple):
    """A derivative outside of the range of differences: its place, and both values."""

    input: int  # a real coordinate of the inputs, or -1 where all move
    output: int  # a real coordinate of the outputs, or -1
    derivative: float
    low: float
    high: float
    error: float
    kink: bool


class Comparison(NamedTuple):
    """The result of a comparison: mismatches, the worst first; the digits to which the rest agrees, and its size."""

    mismatches: list[Mismatch]
    digits: int
    unknown: int  # entries or directions for which differences are inconclusive
    known: int
    resolution: float = 0.0  # in probe mode, an error of a directional derivative that would be seen


class Tally:
    """The comparisons of a check, as they come in."""

    def __init__(self, value: Array) -> None:
        self._floor = FLAT * float(np.abs(value[np.isfinite(value)]).max(initial=0.0))
        self._mismatches: list[tuple[float, Mismatch]] = []
        self._most = int(-math.log10(rounding_of(value))) + 1
        self.digits, self.unknown, self.known, self.resolution = self._most, 0, 0, 0.0

    def add(self, derivative: Array, slope: Slope, scale: float, row: int) -> None:
        """Compare a row of derivatives with slopes; `scale` is how large such derivatives are."""
        if not derivative.size:
            return
        scale = max(scale, self._floor, 1e-290)
        with np.errstate(all="ignore"):
            allowed = SAFETY * slope.error + ROUNDING * finer(derivative) * scale
            off = np.maximum(np.maximum(slope.low - derivative, derivative - slope.high), 0.0)
            off = np.where(np.isnan(derivative), np.inf, off)
            if not np.isfinite(slope.error).all():  # at an edge, where zero times infinity is no mistake
                off = np.where(np.isfinite(derivative), off, 0.0)
            known = slope.error <= scale * 10.0**-FEWEST_DIGITS
            excess = np.where(np.isfinite(slope.error), off / np.maximum(allowed, 1e-300), 0.0)
            known &= excess <= 1
            error = np.maximum(off, slope.error)[known]
        self.known += int(known.sum())
        self.unknown += int((~known).sum())  # with the mismatches, until they are explained
        if error.size:
            self.digits = min(self.digits, _digits(float(error.max()) / scale, self._most))
        self.resolution = max(self.resolution, float(allowed[known].max(initial=0.0)))
        for k in np.argsort(-excess)[:MOST]:
            if excess[k] <= 1:
                break
            kink = bool(slope.low[k] != slope.high[k])
            values = float(derivative[k]), float(slope.low[k]), float(slope.high[k]), float(slope.error[k])
            self._mismatches.append((float(excess[k]), Mismatch(row, int(k), *values, kink)))

    def result(self) -> Comparison:
        """The result so far."""
        worst = [mismatch for _, mismatch in sorted(self._mismatches, key=lambda pair: -pair[0])]
        return Comparison(worst[:MOST], max(self.digits, 0), self.unknown, self.known, self.resolution)


def _digits(relative: float, most: int) -> int:
    return most if relative <= 0 else min(most, int(-math.log10(relative))) if relative < 1 else 0


# -- entry by entry ------------------------------------------------------------------------------------------------


def unit(size: int, k: int) -> Array:
    """unit(size, k): the k-th unit vector."""
    vector = np.zeros(size)
    vector[k] = 1.0
    return vector


def jacobian_of_slopes(point: Point) -> list[Slope]:
    """jacobian_of_slopes(point): a row of slopes for each real coordinate of the inputs, refined by the complex step."""
    size = real_size(point.arrays)
    return [refined(point, unit(size, k)) for k in range(size)]


def refined(point: Point, direction: Array) -> Slope:
    """refined(point, direction): its slope, by the complex step where that agrees with the differences."""
    rough = point.slope(direction)
    exact = point.complex_slope(direction)
    if exact is None or rough.kinked.any() or not np.isfinite(rough.error).all():
        return rough
    scale = float(np.abs(exact).max(initial=0.0))
    if not (np.abs(exact - rough.middle) <= SAFETY * rough.error + 1e-8 * scale).all():
        return rough  # not analytic
    return Slope(exact, exact, np.minimum(rough.error, 4 * rounding_of(exact) * scale))


def full_backward(point: Point, slopes: list[Slope]) -> Comparison:
    """full_backward(point, slopes): every entry of the Jacobian, a backward for each real coordinate of the outputs."""
    run, columns = point.run([a.copy() for a in point.arrays]), []
    for k in range(point.value.size):
        columns.append(_gradient_vector(point, run.pull(from_real(unit(point.value.size, k), point.outputs))))
    return _entries(point, np.array(columns).T.reshape(len(slopes), point.value.size), slopes)


def full_forward(point: Point, slopes: list[Slope]) -> Comparison:
    """full_forward(point, slopes): every entry of the Jacobian, an evaluation for each real coordinate of the inputs."""
    size = len(slopes)
    rows = [point.push(from_real(unit(size, k), point.arrays)) for k in range(size)]
    return _entries(point, np.array(rows).reshape(size, point.value.size), slopes)


def _entries(point: Point, jacobian: Array, slopes: list[Slope]) -> Comparison:
    tally = Tally(point.value)
    finite = [np.abs(s.middle[np.isfinite(s.error)]).max(initial=0.0) for s in slopes]
    scale = float(max(finite, default=0.0))
    for k, row in enumerate(slopes):
        tally.add(jacobian[k], row, scale, k)
    return tally.result()


def _gradient_vector(point: Point, found: list[Array | None]) -> Array:
    """Gradients as a real vector; zero for None. ShapeError for one that doesn't fit its input."""
    fitting = []
    for source, (g, x) in enumerate(zip(found, point.arrays, strict=True)):
        if g is not None and g.shape != x.shape:
            raise ShapeError(source, g.shape, x.shape)
        fitting.append(np.zeros_like(x) if g is None else (g if x.dtype.kind == "c" else g.real).astype(x.dtype))
    return to_real(fitting)


class ShapeError(Exception):
    """A gradient doesn't have the shape of its input."""

    def __init__(self, source: int, got: tuple[int, ...], expected: tuple[int, ...]) -> None:
        super().__init__(source, got, expected)
        self.source, self.got, self.expected = source, got, expected


# -- along random directions ---------------------------------------------------------------------------------------


class Probes:
    """Random directions of a point, with the slopes along them.

    Entries are normal: such directions are least often (nearly) orthogonal to an error of the Jacobian. With an error of rank
    one and Frobenius norm e, |v' E u| is e |a b| with normal a and b, which is below t e with probability
    2/pi * t * (1 + log 2 - gamma - log t) for small t; with other errors less often.

    `together`: entries of equal value move together, so that ties stay ties.
    """

    def __init__(self, point: Point, count: int, seed: int, together: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.point = point
        n, m = real_size(point.arrays), point.value.size
        groups = np.unique(to_real(point.arrays), return_inverse=True)[1] if together else np.arange(n)
        self.u = [rng.standard_normal(n)[groups] for _ in range(count)]
        self.v = [rng.standard_normal(m) for _ in range(count)]
        self.slopes = [refined(point, u) for u in self.u]

    def weighted(self, k: int) -> tuple[Slope, float]:
        """probes.weighted(k): the slope of `v' f` along u, the k-th of both, and how large its terms are."""
        slope = self.slopes[k]
        self.v[k] = v = np.where(slope.known, self.v[k], 0.0)  # an output with unknown slope gets no seed
        size = float(np.sqrt(np.sum((v * np.where(slope.known, slope.middle, 0.0)) ** 2)))
        return Slope(*(np.array([number]) for number in slope.weighted(v))), size


def probe_backward(probes: Probes) -> Comparison:
    """probe_backward(probes): `v' J u` by a backward for each pair."""
    tally, point = Tally(probes.point.value), probes.point
    run = point.run([a.copy() for a in point.arrays])
    for k, u in enumerate(probes.u):
        slope, size = probes.weighted(k)
        g = _gradient_vector(point, run.pull(from_real(probes.v[k], point.outputs)))
        if not np.isfinite(probes.slopes[k].error).all():
            g = np.where(np.isfinite(g), g, 0.0)
        size = max(size, float(np.sqrt(np.sum((g * u) ** 2))) if np.isfinite(g).all() else 0.0)
        tally.add(np.array([g @ u]), slope, size, k)
    return tally.result()


def probe_forward(probes: Probes) -> Comparison:
    """probe_forward(probes): `J u`, all of its entries, by an evaluation for each direction."""
    tally, point = Tally(probes.point.value), probes.point
    for k, u in enumerate(probes.u):
        slope = probes.slopes[k]
        scale = float(np.abs(slope.middle[np.isfinite(slope.error)]).max(initial=0.0))
        tally.add(point.push(from_real(u, point.arrays)), slope, scale, k)
    return tally.result()


def probes_for(miss: float) -> tuple[int, float]:
    """probes_for(miss): the number of pairs, and the part of a rank-one error that they miss with that probability."""
    count = max(2, math.ceil(-math.log10(miss) - 1e-9))
    once = miss ** (1 / count)
    low, high = 1e-9, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle) < once else (low, middle)
    return count, low


def _below(t: float) -> float:
    """The probability that the product of two normal numbers is below t, for small t."""
    return 2 / math.pi * t * (1 + math.log(2) - 0.5772156649 - math.log(t))


# -- is it really wrong? --------------------------------------------------------------------------------------------


def confirmed(point: Point, mismatch: Mismatch, direction: Array, seed: Array, forward: bool) -> bool:
    """confirmed(point, mismatch, ...): whether the derivative of `seed' f` along the direction is off with other steps, too.

    The derivative is recomputed at inputs a rounding error away: a change of that size is no mistake.
    """
    other = point.slope(direction, OTHER_REACH).weighted(seed)
    here = directional(point, point.arrays, direction, seed, forward)
    if not np.isfinite(here):
        return True
    beside = [directional(point, [nearby(a, k) for a in point.arrays], direction, seed, forward) for k in range(NEARBY)]
    noise = 0.0 if mismatch.kink else 20 * max(abs(b - here) for b in beside)
    largest = max(abs(here), abs(other.low), abs(other.high))
    return other.off(here) > SAFETY * other.error + (min(noise, 1e-3 * largest) if np.isfinite(noise) else 0.0)


def directional(point: Point, arrays: list[Array], direction: Array, seed: Array, forward: bool) -> float:
    """directional(point, arrays, ...): the derivative of `seed' f` along the direction, by one of the modes."""
    if forward:
        return float(seed @ point.push(from_real(direction, arrays)))
    found = point.run([a.copy() for a in arrays]).pull(from_real(seed, point.outputs))
    return float(_gradient_vector(point, found) @ direction)
