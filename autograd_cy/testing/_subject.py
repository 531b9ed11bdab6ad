"""The basis of most checks: a point, gradients there, and comparisons with others (facade)."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ._differences import Array
from ._point import NEARBY, NotApplicable, Point, Run, from_real, nearby, real_size
from ._verdict import Finding

NEAR = 1e-9  # how far the same computation in another order may be off, relative to the largest entry
EXACT = 0.0  # not at all

Gradients = Sequence[Array | None]


class Claim(NamedTuple):
    """A check's text for gradients that differ: its name, the culprit, and the words around both numbers."""

    check: str
    culprit: str
    here: str  # the description of the first one: "with create_graph=True"
    there: str  # and of the other: "without"


class Subject:
    """A point with a seed for each output, and the gradients that it gives."""

    def __init__(self, point: Point, seed: int) -> None:
        self.point = point
        rng = np.random.default_rng(seed)
        size = real_size(point.outputs)
        self.seeds = from_real(rng.uniform(0.5, 1.5, size) * rng.choice([-1.0, 1.0], size), point.outputs)
        self.arrays = [a.copy() for a in point.arrays]
        self.run = point.run(self.arrays)
        self.gradients = self.run.pull(self.new_seeds())

    def new_seeds(self) -> list[Array]:
        """subject.new_seeds(): copies of the seeds, for a backward that may write to them."""
        return [s.copy() for s in self.seeds]

    def fresh(self, arrays: Sequence[Array] | None = None, wanted: Sequence[bool] | None = None) -> Run:
        """subject.fresh(): another run, on arrays of its own."""
        return self.point.run([a.copy() for a in self.point.arrays] if arrays is None else arrays, wanted)

    def pulled(self, arrays: Sequence[Array] | None = None) -> list[Array | None]:
        """subject.pulled(): the gradients of another run."""
        return list(self.fresh(arrays).pull(self.new_seeds()))

    def compare(
        self, found: Gradients, claim: Claim, expected: Gradients | None = None, tolerance: float = NEAR
    ) -> Finding | None:
        """subject.compare(found, claim, expected): the finding for gradients that differ, by default from its own."""
        for source, (a, b) in enumerate(zip(found, self.gradients if expected is None else expected, strict=True)):
            if not self._agree(source, a, b, tolerance):
                facts = f"the gradient of {self.point.name(source)} {claim.here}: {apart(a, b)} {claim.there}."
                return Finding(claim.check, claim.culprit, facts)
        return None

    def _agree(self, source: int, a: Array | None, b: Array | None, tolerance: float) -> bool:
        """Whether two gradients of an input are equal, but for rounding; an exact one has to be equal."""
        if tolerance == EXACT:
            return same_bits(a, b)
        return near(a, b, tolerance) or (a is not None and b is not None and farthest(a, b) <= 20 * self.conditioning[source])

    @functools.cached_property
    def conditioning(self) -> list[float]:
        """The change of each gradient if inputs change by a rounding error; cancellation makes it large."""
        moved = [self.pulled([nearby(a, k) for a in self.point.arrays]) for k in range(NEARBY)]
        return [max(farthest(m[source], g) for m in moved) for source, g in enumerate(self.gradients)]

    def only_tensors(self, what: str) -> None:
        """subject.only_tensors(what): NotApplicable for a NumPy function."""
        if not self.point.takes_tensors:
            raise NotApplicable(f"a NumPy function has no {what}")


def same_bits(a: Array | None, b: Array | None) -> bool:
    """same_bits(a, b): whether two gradients are equal; nan equals nan, None a zero."""
    if a is None or b is None:
        return _is_zero(a, b)
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=True))


def near(a: Array | None, b: Array | None, tolerance: float = NEAR) -> bool:
    """near(a, b, tolerance): whether two gradients are equal but for rounding."""
    if a is None or b is None:
        return _is_zero(a, b)
    if a.shape != b.shape:
        return False
    size = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def _is_zero(a: Array | None, b: Array | None) -> bool:
    """For two gradients, one of them None: whether the other is zero."""
    other = b if a is None else a
    return other is None or not np.any(other)


def farthest(a: Array | None, b: Array | None) -> float:
    """farthest(a, b): how far two gradients are apart, where both are finite."""
    if a is None or b is None or a.shape != b.shape or np.isfinite(a).all() != np.isfinite(b).all():
        return np.inf
    with np.errstate(all="ignore"):
        distance = np.abs(a - b)
    return float(distance[np.isfinite(distance)].max(initial=0.0))


def apart(a: Array | None, b: Array | None) -> str:
    """apart(a, b): the two entries that are furthest apart, as "1 against 2 at (0, 3)"."""
    if a is None or b is None or a.shape != b.shape:
        return " against ".join("None" if x is None else f"shape {x.shape}" for x in (a, b))
    with np.errstate(all="ignore"):
        distance = np.abs(a - b)
    distance = np.where(np.isfinite(distance), distance, np.where(np.isnan(a) & np.isnan(b), 0.0, np.inf))
    k = np.unravel_index(int(np.argmax(distance)), a.shape) if a.size else ()
    place = f" at {tuple(int(i) for i in k)}" if a.ndim else ""
    return f"{a[k]:.10g} against {b[k]:.10g}{place}"


def overlap(a: Array, b: Array) -> bool:
    """overlap(a, b): whether two arrays share memory."""
    try:
        return bool(a.size and b.size and np.shares_memory(a, b, max_work=10_000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return bool(np.may_share_memory(a, b))


def first_line(error: BaseException) -> str:
    """first_line(error): its text, to the first line break."""
    return str(error).partition("\n")[0]
