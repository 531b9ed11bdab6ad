"""``python -m benchmarks.operations``: time of PyTorch over that of autograd_cy for each operation, forward and backward.

Both run on one thread, in turn. A cell is the median ratio of neighbouring samples of processor time, which other programs
disturb little; `<` marks a cell below the family's required ratio at that size. The elementwise operations come from the table
of operations, so a new one has a row at once; the others are in `benchmarks.operation_steps`. ``--threads`` prints another
table: two threads over one, as in `benchmarks.threads`.
"""

import argparse
import importlib
import statistics
import time
import warnings
from collections.abc import Sequence

import numpy as np

from benchmarks.cli import load_torch, table_line
from benchmarks.operation_steps import FAMILIES, OPERATIONS, Operation
from benchmarks.threads import cell as threads_cell
from benchmarks.threads import ratio as threads_ratio
from benchmarks.timing import measure, ratios

SIZES = [10**3, 10**5]
TYPES = {"float32": np.float32, "float64": np.float64}


def cell(operation: Operation, size: int, ratio: float) -> str:
    """cell(operation, size, ratio) -> the figure, marked if it is below the required ratio."""
    return f"{'< ' if ratio < operation.minimum(size) else ''}{ratio:.2f}"


def compared(operation: Operation, libraries: Sequence, size: int, dtype: type, options: argparse.Namespace) -> str:
    """compared(operation, (ours, torch), ...) -> the cell: the ratio, or our time in us without torch."""
    steps = [operation.step(library, size, dtype) for library in libraries]
    samples = measure(steps, options.rounds, options.seconds, time.process_time)
    if len(samples) == 1:
        return f"{1e6 * statistics.median(samples[0]):.1f}"
    return cell(operation, size, ratios(samples[1], samples[0]).median)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """parse(arguments) -> the options; None reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operations", description=__doc__)
    parser.add_argument("--family", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--only", nargs="+", choices=OPERATIONS, default=list(OPERATIONS), metavar="NAME")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="N")
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--rounds", type=int, default=15, help="pairs of samples for each cell (default 15)")
    parser.add_argument("--quick", action="store_true", help="a rough answer")
    parser.add_argument("--threads", action="store_true", help="two threads over one instead")
    options = parser.parse_args(arguments)
    options.seconds, options.rounds = (0.0005, 2) if options.quick else (0.002, options.rounds)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints a table for each family."""
    options = parse(arguments)
    ours, torch = importlib.import_module("autograd_cy"), None if options.threads else load_torch(1)
    libraries = [ours, torch] if torch else [ours]
    columns = [(size, dtype) for size in options.sizes for dtype in options.types]
    for family in options.family:
        chosen = [row for name, row in OPERATIONS.items() if row.family == family and name in options.only]
        if not chosen:
            continue
        print(table_line(family, *(f"{size:.0e} {dtype[-2:]}" for size, dtype in columns)))
        print("|" + "|".join(["---", *["---:"] * len(columns)]) + "|")
        for row in chosen:
            cells = []
            for size, dtype in columns:
                if options.threads:
                    found = threads_ratio(ours, row.step(ours, size, TYPES[dtype]), options.rounds, options.seconds)
                    cells.append(threads_cell(found))
                else:
                    cells.append(compared(row, libraries, size, TYPES[dtype], options))
            print(table_line(row.name, *cells), flush=True)
        print()


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):     # BLAS keeps its threads while this object lives
        main()
