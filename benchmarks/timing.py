"""Time steps side by side: in turn, with samples long enough for the clock and the garbage collector on.

Absolute times drift on a shared machine. Neighbouring samples drift together, so the figure is the median ratio of
neighbours.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

Step = Callable[[], object]
Clock = Callable[[], float]


class Quartiles(NamedTuple):
    """Quartiles of measurements: a quarter lie below `low`, half below `median`."""

    low: float
    median: float
    high: float


def quartiles(values: Sequence[float]) -> Quartiles:
    """quartiles(values) -> Quartiles, interpolated between the values.

    >>> quartiles([4.0, 1.0, 2.0, 3.0, 5.0])
    Quartiles(low=2.0, median=3.0, high=4.0)
    """
    return Quartiles(*statistics.quantiles(values, n=4, method="inclusive"))


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Quartiles:
    """ratios(numerators, denominators) -> the quartiles of the pairwise ratios.

    >>> ratios([2.0, 4.0, 9.0], [1.0, 2.0, 3.0])
    Quartiles(low=2.0, median=2.0, high=2.5)
    """
    return quartiles([n / d for n, d in zip(numerators, denominators, strict=True)])


def seconds_per_step(step: Step, repeats: int, clock: Clock = time.perf_counter) -> float:
    """seconds_per_step(step, repeats) -> the mean time of `step` over `repeats` calls in a row."""
    start = clock()
    for _ in range(repeats):
        step()
    return (clock() - start) / repeats


def warm_up(step: Step, sample_seconds: float, clock: Clock = time.perf_counter) -> int:
    """warm_up(step, sample_seconds) -> the power of two of repeats that takes at least that long.

    The search calls the step for as long as one or two samples, which fills caches, free lists and pools. The first
    call is not timed, because it may import a module and seem to need no repeats.
    """
    step()
    repeats = 1
    while seconds_per_step(step, repeats, clock) * repeats < sample_seconds:
        repeats *= 2
    return repeats


def measure(
    steps: Sequence[Step], rounds: int, sample_seconds: float, clock: Clock = time.perf_counter
) -> list[list[float]]:
    """measure(steps, rounds, sample_seconds) -> for each step, its seconds per call in every round.

    A round takes one sample of each step in turn (A B A B ...): samples with the same index are neighbours.
    Samples last between `sample_seconds` and about twice that, or one call where a call takes longer.
    """
    repeats = [warm_up(step, sample_seconds, clock) for step in steps]
    samples: list[list[float]] = [[] for _ in steps]
    for _ in range(rounds):
        for step, count, taken in zip(steps, repeats, samples, strict=True):
            taken.append(seconds_per_step(step, count, clock))
    return samples
