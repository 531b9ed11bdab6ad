"""Locates and identifies mistakes in gradients (facade)."""

from typing import NamedTuple

import numpy as np

from ._compare import MOST, Comparison, Mismatch, Probes, _gradient_vector, confirmed, unit
from ._differences import Array, Slope
from ._patterns import alike, guess
from ._point import Point, Run, from_real, real_size, to_real
from ._verdict import Finding

AROUND = 32  # points at which slopes are computed
SAMPLED = 256  # entries that are checked one by one in a larger input


class Coordinate(NamedTuple):
    """A real coordinate of a list of arrays: which array, which entry, and of a complex one which part."""

    array: int
    entry: tuple[int, ...]
    part: str


def coordinate(arrays: list[Array], k: int) -> Coordinate:
    """coordinate(arrays, k): where the k-th entry of `to_real(arrays)` comes from."""
    for i, a in enumerate(arrays):
        width = 2 if a.dtype.kind == "c" else 1
        if k < a.size * width:
            entry = tuple(int(j) for j in np.unravel_index(k // width, a.shape)) if a.ndim else ()
            return Coordinate(i, entry, ("real part of ", "imaginary part of ")[k % 2] if width == 2 else "")
        k -= a.size * width
    raise IndexError(k)


def explain_backward(
    point: Point, comparison: Comparison, probes: Probes | None, slopes: list[Slope] | None
) -> Finding | None:
    """explain_backward(point, comparison, ...): the finding for mismatches; None if none of them is a mistake."""
    run = point.run([a.copy() for a in point.arrays])
    for mismatch in comparison.mismatches[: MOST if probes is None else 1]:
        if probes is not None:
            u, v = probes.u[mismatch.input], probes.v[mismatch.input]
        else:
            u, v = unit(real_size(point.arrays), mismatch.input), unit(point.value.size, mismatch.output)
        if not confirmed(point, mismatch, u, v, forward=False):
            continue
        if probes is not None:
            g = _gradient_vector(point, run.pull(from_real(v, point.outputs)))
            mismatch = _entry(point, _worst_input(point, u, v, g), run)
        direction = unit(real_size(point.arrays), mismatch.input)
        if not _is_limit(point, direction, mismatch):
            return _finding(point, mismatch, run, slopes)
    return None


def _finding(point: Point, mismatch: Mismatch, run: Run, slopes: list[Slope] | None) -> Finding:
    facts = f"{_input_name(point, mismatch.input)} to {_output_name(point, mismatch.output)}:\n  {_values(mismatch)}"
    if mismatch.kink:
        facts += "\n  It is a kink, and a gradient there is right if it lies between the two slopes."
        return Finding("gradient", "ties", facts)
    tag, sentence = _guess(point, mismatch.input, run, slopes)
    if tag in ("dropped term", "broadcast not summed") and slopes is not None and _is_transposed(point, run, slopes):
        tag, sentence = "transposed", "its Jacobian is the right one, transposed"
    return Finding("gradient", tag, f"{facts}\n  {_gradient_of(point, mismatch.input)}: {sentence}.")


def _is_transposed(point: Point, run: Run, slopes: list[Slope]) -> bool:
    """Whether the Jacobian is transposed."""
    size = point.value.size
    if size != len(slopes) or size < 2:
        return False
    rows = [run.pull(from_real(unit(size, k), point.outputs)) for k in range(size)]
    found = np.array([_gradient_vector(point, row) for row in rows])
    right = np.array([slope.middle for slope in slopes])
    return bool(alike(found, right).all())


def explain_ties(point: Point, comparison: Comparison, probes: Probes) -> Finding | None:
    """explain_ties(point, comparison, probes): the same for mistakes that show only if equal entries move together."""
    for mismatch in comparison.mismatches:
        u, v = probes.u[mismatch.input], probes.v[mismatch.input]
        if confirmed(point, mismatch, u, v, forward=False):
            facts = "where inputs of one value move together, along a random direction:\n  " + _values(mismatch)
            return Finding("gradient", "ties", f"{facts}\n  The parts of the gradient that tied entries get don't add up.")
    return None


def _is_limit(point: Point, direction: Array, mismatch: Mismatch) -> bool:
    """Whether the derivative is one of a point nearby, where slopes jump: an element of Clarke's generalized gradient.

    At ties, sorting or topk picks one of several smooth pieces, and its gradient is right, though the slopes on both sides of
    a single coordinate may belong to other pieces.
    """
    lows, highs = [], []
    for seed in range(AROUND):
        near = point.near(seed, 1e-6)
        if near is None:
            return False
        slope = near.slope(direction, reach=1e-6)
        lows.append(float(slope.low[mismatch.output]))
        highs.append(float(slope.high[mismatch.output]))
    low, high = min(lows), max(highs)
    slack = 1e-3 * (high - low)
    return high - low > 1e-2 * max(abs(low), abs(high)) and low - slack <= mismatch.derivative <= high + slack


def _worst_input(point: Point, u: Array, v: Array, g: Array) -> int:
    """The worst input coordinate, by bisection: take the half with the larger error."""
    moving = np.arange(u.size)
    while moving.size > 1:
        halves = np.array_split(moving, 2)
        moving = max(halves, key=lambda half: _off(point, u, v, g, half))
    return int(moving[0])


def _off(point: Point, u: Array, v: Array, g: Array, moving: Array) -> float:
    direction = np.zeros_like(u)
    direction[moving] = u[moving]
    return point.slope(direction).weighted(v).off(float(g @ direction))


def _entry(point: Point, k: int, run: Run) -> Mismatch:
    """The worst entry of the Jacobian for an input coordinate."""
    slope = point.slope(unit(real_size(point.arrays), k))
    low, high = 0, point.value.size
    while high - low > 1:  # the half of the outputs that is off more
        middle = (low + high) // 2
        low, high = max(((low, middle), (middle, high)), key=lambda part: _off_part(point, k, slope, part, run))
    derivative = _pulled(point, k, unit(point.value.size, low), run)
    ends = float(slope.low[low]), float(slope.high[low])
    return Mismatch(k, low, derivative, *ends, float(slope.error[low]), ends[0] != ends[1])


def _off_part(point: Point, k: int, slope: Slope, part: tuple[int, int], run: Run) -> float:
    low, high = part
    seed = np.zeros(point.value.size)
    seed[low:high] = np.random.default_rng(1).standard_normal(high - low)
    seed[~slope.known] = 0.0
    return slope.weighted(seed).off(_pulled(point, k, seed, run))


def _pulled(point: Point, k: int, seed: Array, run: Run) -> float:
    return float(_gradient_vector(point, run.pull(from_real(seed, point.outputs)))[k])


def _guess(point: Point, k: int, run: Run, slopes: list[Slope] | None) -> tuple[str, str]:
    """The mistake in the gradient of the input that has this coordinate, for a random incoming gradient.

    It has to explain nearby points too: at one point with few entries, everything looks like a factor. The incoming gradient
    is real, so that a conjugate shows; unless the gradient is wrong for imaginary ones only.
    """
    source = coordinate(point.arrays, k).array
    points = [near for near in (point.near(1), point.near(2)) if near is not None]
    runs = [near.run([a.copy() for a in near.arrays]) for near in points]
    values = np.random.default_rng(2).uniform(0.5, 1.5, point.value.size)
    real = to_real([np.ones_like(y) for y in point.outputs]) * values
    for seed in (real, values):
        views = [_both(point, source, k, run, slopes, seed)]
        views += [_both(near, source, k, other, None, seed) for near, other in zip(points, runs, strict=True)]
        got, right, known = (np.stack(part) for part in zip(*views, strict=True))
        if seed is values or not alike(got, right)[known].all():
            break
    return guess(got, right, known, broadcast=right[0].size < max(y.size for y in point.outputs))


def _both(
    point: Point, source: int, k: int, run: Run, slopes: list[Slope] | None, seed: Array
) -> tuple[Array, Array, Array]:
    """An input's gradient as it is and as it should be, for an incoming gradient, and where the latter is known."""
    found = run.pull(from_real(seed, point.outputs))[source]
    x = point.arrays[source]
    got = np.zeros_like(x) if found is None else found.astype(x.dtype)
    return got, *_by_slopes(point, source, seed, k, slopes)


def _by_slopes(point: Point, source: int, seed: Array, worst: int, slopes: list[Slope] | None) -> tuple[Array, Array]:
    """The gradient of one input by differences, and where it is known: all of a small one, a sample of a large one."""
    start = real_size(point.arrays[:source])
    x = point.arrays[source]
    width = 2 if x.dtype.kind == "c" else 1
    entries, size = np.arange(x.size), real_size(point.arrays)
    if slopes is None and x.size > SAMPLED:
        around = (worst - start) // width + np.arange(-2, 3)
        rng = np.random.default_rng(3)
        entries = np.union1d(rng.choice(x.size, SAMPLED, replace=False), around[(around >= 0) & (around < x.size)])
    values, known = np.zeros(x.size * width), np.zeros(x.size, bool)
    for entry in entries:
        coordinates = range(int(entry) * width, int(entry) * width + width)
        rows = [point.slope(unit(size, start + c)) if slopes is None else slopes[start + c] for c in coordinates]
        known[entry] = all(np.isfinite(row.error).all() for row in rows)
        for c, row in zip(coordinates, rows, strict=True):
            values[c] = float(np.where(np.isfinite(row.error), seed * row.middle, 0.0).sum())
    right = values.view(np.complex128) if width == 2 else values
    return right.reshape(x.shape), known.reshape(x.shape)


# -- words ---------------------------------------------------------------------------------------------------------


def _values(mismatch: Mismatch) -> str:
    if mismatch.kink:
        both = f"{mismatch.low:.10g} and {mismatch.high:.10g}"
        return f"gradient {mismatch.derivative:.10g}, slopes to its left and right {both}"
    ratio = f", ratio {mismatch.derivative / mismatch.low:.6g}" if mismatch.low else ""
    return f"gradient {mismatch.derivative:.10g}, differences {mismatch.low:.10g} (+- {mismatch.error:.1g}){ratio}"


def _input_name(point: Point, k: int) -> str:
    at = coordinate(point.arrays, k)
    return f"{at.part}{point.name(at.array)}{_index(at.entry)}"


def _gradient_of(point: Point, k: int) -> str:
    return f"the gradient of {point.name(coordinate(point.arrays, k).array)}"


def _output_name(point: Point, k: int) -> str:
    at = coordinate(point.outputs, k)
    name = "the output" if len(point.outputs) == 1 else f"output {at.array}"
    return f"{at.part}{name}{_index(at.entry)}"


def _index(entry: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, entry))}]" if entry else ""


def explain_forward(point: Point, comparison: Comparison, probes: Probes | None) -> Finding | None:
    """explain_forward(point, comparison, probes): the same of tangents."""
    for mismatch in comparison.mismatches:
        u = probes.u[mismatch.input] if probes is not None else unit(real_size(point.arrays), mismatch.input)
        if not confirmed(point, mismatch, u, unit(point.value.size, mismatch.output), forward=True):
            continue
        if _is_limit(point, u, mismatch):
            continue
        source = "along a random direction" if probes is not None else f"along {_input_name(point, mismatch.input)}"
        values = _values(mismatch).replace("gradient", "tangent")
        return Finding("forward mode", "forward mode", f"{_output_name(point, mismatch.output)}, {source}:\n  {values}.")
    return None
