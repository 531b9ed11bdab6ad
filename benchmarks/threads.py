"""``python -m benchmarks.threads``: a step's time with two threads over that with one, by the size of its tensors.

Below 1 the second thread is a gain; a cell above LIMIT is marked. Both are measured in turn, in either order; threadpoolctl,
if installed, sets the threads of BLAS. Other programs, and other virtual machines on the host, disturb the second core:
two runs may differ by more than a tenth.
"""

import argparse
import importlib
import statistics
import warnings
from collections.abc import Callable, Sequence

from benchmarks.cli import table_line
from benchmarks.large import backward_step, chain, gelu_by_hand
from benchmarks.timing import seconds_per_step, warm_up
from benchmarks.workloads import Library, Step, leaves

LIMIT = 1.05
SIZES = [10, 100, 1_000, 5_000, 10_000, 20_000, 30_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 10_000_000]
COLUMNS = 100  # sizes of matrices


def matrices(torch: Library, f: Callable, size: int) -> Step:
    """A step of a function of a matrix and a row."""
    return backward_step(torch, f, leaves(torch, (max(size // COLUMNS, 1), min(size, COLUMNS)), (min(size, COLUMNS),)))


STEPS: dict[str, Callable[[Library, int], Step]] = {
    "a * b": lambda t, n: backward_step(t, lambda a, b: a * b, leaves(t, (n,), (n,))),
    "tanh(a * b) + a": lambda t, n: chain(t, (n,)),
    "exp": lambda t, n: backward_step(t, lambda a: a.exp(), leaves(t, (n,))),
    "GELU from 8 operators": lambda t, n: gelu_by_hand(t, (n,)),
    "matrix * row": lambda t, n: matrices(t, lambda x, row: x * row, n),
    "sum along rows": lambda t, n: matrices(t, lambda x, row: (x * row).sum(1), n),
    "softmax": lambda t, n: matrices(t, lambda x, row: x.softmax(1) * row, n),
}


def ratio(ours: Library, step: Step, pairs: int, seconds: float) -> float:
    """ratio(ours, step, pairs, seconds) -> the median of the ratios of neighbouring samples."""
    repeats = warm_up(step, seconds)
    found = []
    for pair in range(pairs):
        taken = {}
        for threads in (1, 2) if pair % 2 else (2, 1):
            ours.set_num_threads(threads)
            step()
            taken[threads] = seconds_per_step(step, repeats)
        found.append(taken[2] / taken[1])
    return statistics.median(found)


def cell(value: float) -> str:
    """cell(value) -> the figure, marked if a second thread makes the step slower."""
    return f"{'> ' if value > LIMIT else ''}{value:.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints the table, a column for each step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS), metavar="STEP")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="N")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="a rough answer")
    options = parser.parse_args(arguments)
    seconds, pairs = (0.001, 2) if options.quick else (0.01, options.pairs)
    ours = importlib.import_module("autograd_cy")
    print(table_line("two threads over one, elements", *options.only))
    print("|" + "|".join(["---", *["---:"] * len(options.only)]) + "|")
    with warnings.catch_warnings(action="ignore"):  # BLAS keeps its threads while this object lives
        for size in options.sizes:
            cells = [cell(ratio(ours, STEPS[name](ours, size), pairs, seconds)) for name in options.only]
            print(table_line(str(size), *cells), flush=True)


if __name__ == "__main__":
    main()
