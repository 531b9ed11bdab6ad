"""``python -m benchmarks.own_graphs``: several threads, each of which records and walks graphs of its own.

The gain is how many times as much is done in a second as by one thread: for a Python without a GIL, with one it is about 1.
BLAS and kernels use one thread. One thread and several take turns; a figure is a median.
"""

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence

from benchmarks.parallel import Make, chain, chain_mixed, mixture, scalars  # sets one thread for BLAS, before NumPy is loaded

CASES: dict[str, Make] = {"chain": chain, "chain_mixed": chain_mixed, "scalars": scalars, "mixture of 16 MLPs": mixture}


def steps(make: Make, count: int) -> Callable[[], None]:
    """steps(make, count) -> a function that records a graph and walks it, so many times."""
    record = make()

    def run() -> None:
        for _ in range(count):
            record().backward()

    return run


def seconds(work: Sequence[Callable[[], None]]) -> float:
    """seconds(work) -> how long the functions take, each in a thread of its own."""
    threads = [threading.Thread(target=run) for run in work]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def gain(make: Make, threads: int, rounds: int) -> float:
    """gain(make, threads, rounds) -> the work of several threads in a second over that of one."""
    count = max(1, int(0.3 / (seconds([steps(make, 3)]) / 3)))
    own = [steps(make, count) for _ in range(threads)]
    return statistics.median(threads * seconds(own[:1]) / seconds(own) for _ in range(rounds))


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.own_graphs", description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"| {'with' if has_gil else 'without'} a GIL | threads | gain |\n|---|---|---|")
    for name, make in CASES.items():
        print(f"| {name} | {options.threads} | {gain(make, options.threads, options.rounds):.2f} |", flush=True)


if __name__ == "__main__":
    main()
