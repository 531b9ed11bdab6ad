"""``python -m benchmarks.own_graphs``: several threads that each record and walk graphs of their own.

The gain is the work of several threads in a second divided by that of one thread. With a GIL it is about 1. BLAS and kernels
use one thread. One thread and several take turns; a figure is a median. The first row is plain Python, and shows what the
machine had to give meanwhile.
"""

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.parallel import Make, chain, chain_mixed, mixture, scalars  # sets BLAS to one thread before NumPy is loaded

CASES: dict[str, Make] = {"chain": chain, "chain_mixed": chain_mixed, "scalars": scalars, "mixture of 16 MLPs": mixture}


def numbers(count: int) -> Callable[[], None]:
    """numbers(count) -> a function that computes with floats, `count` thousand times."""

    def run() -> None:
        x = 0.5
        for _ in range(1000 * count):
            x = x * 0.9 + 0.1

    return run


def steps(make: Make, count: int) -> Callable[[], None]:
    """steps(make, count) -> a function that records and walks a graph `count` times."""
    record = make()

    def run() -> None:
        for _ in range(count):
            record().backward()

    return run


def seconds(work: Sequence[Callable[[], None]]) -> float:
    """seconds(work) -> the time that the functions take, each in its own thread."""
    threads = [threading.Thread(target=run) for run in work]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def gain(work: Callable[[int], Callable[[], None]], threads: int, rounds: int) -> float:
    """gain(work, threads, rounds) -> the work of several threads in a second over that of one thread, `work(count)`."""
    count = max(1, int(0.3 / (seconds([work(3)]) / 3)))
    own = [work(count) for _ in range(threads)]
    return statistics.median(threads * seconds(own[:1]) / seconds(own) for _ in range(rounds))


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.own_graphs", description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"| {'with' if has_gil else 'without'} a GIL | threads | gain |\n|---|---|---|")
    works = {"floats in Python": numbers} | {name: partial(steps, make) for name, make in CASES.items()}
    for name, work in works.items():
        print(f"| {name} | {options.threads} | {gain(work, options.threads, options.rounds):.2f} |", flush=True)


if __name__ == "__main__":
    main()
