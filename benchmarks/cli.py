"""The command line: choose workloads, time them, print the table as it grows, write the figures as JSON."""

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from benchmarks.large import large_workloads
from benchmarks.timing import Clock, measure, quartiles, ratios
from benchmarks.transforms import TRANSFORMS
from benchmarks.workloads import WORKLOADS, Workload, add_chain

RESULTS = Path(__file__).resolve().parents[1] / "build" / "benchmarks.json"
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
SCALING = "scaling"
SCALING_LIMIT = 1.8
SHORT, LONG = 1_000, 100_000


def load_torch(threads: int) -> ModuleType | None:
    """load_torch(threads) -> torch, limited to that many threads, or None if it is not installed."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    torch.set_num_threads(threads)
    return torch


def machine_facts(ours: ModuleType, torch: ModuleType | None) -> dict[str, object]:
    """machine_facts(ours, torch) -> the versions and hardware that the figures depend on, without the machine's name."""
    return {
        "autograd_cy": ours.__version__,
        "torch": torch.__version__ if torch else None,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
    }


def run_workload(
    workload: Workload, libraries: Sequence[ModuleType], rounds: int, seconds: float, clock: Clock = time.perf_counter
) -> dict[str, object]:
    """run_workload(workload, (ours, torch), ...) -> its row; the fields that need torch are None without it."""
    samples = measure([workload.setup(library) for library in libraries], rounds, seconds, clock)
    row: dict[str, object] = {
        "name": workload.name,
        "title": workload.title,
        "minimum": workload.minimum,
        "ours_us": 1e6 * quartiles(samples[0]).median,
        "torch_us": None,
        "ratio": None,
        "ratio_quartiles": None,
    }
    if len(libraries) == 2:
        ratio = ratios(samples[1], samples[0])
        row |= {"torch_us": 1e6 * quartiles(samples[1]).median, "ratio": ratio.median}
        row |= {"ratio_quartiles": [ratio.low, ratio.high]}
    return row


def run_scaling(ours: ModuleType, rounds: int, seconds: float) -> dict[str, object]:
    """run_scaling(ours, ...) -> the cost of a node in a chain of 10^5 over that in a chain of 10^3.

    Both steps make the same number of nodes. A long chain returns its memory pages when it is freed, and the next one
    fetches new ones.
    """
    short_chain = add_chain(ours, SHORT)

    def short_chains() -> None:
        for _ in range(LONG // SHORT):
            short_chain()

    short, long = measure([short_chains, add_chain(ours, LONG)], rounds, seconds)
    growth = ratios(long, short)
    return {
        "limit": SCALING_LIMIT,
        "ratio": growth.median,
        "ratio_quartiles": [growth.low, growth.high],
        "short_ns_per_node": 1e9 * quartiles(short).median / LONG,
        "long_ns_per_node": 1e9 * quartiles(long).median / LONG,
    }


def table_line(title: str, *cells: object) -> str:
    """table_line(title, *cells) -> a line of a Markdown table: text to the left, numbers to the right."""
    return "| " + " | ".join([f"{title:<65}", *(f"{cell:>11}" for cell in cells)]) + " |"


def table_row(row: dict) -> str:
    """table_row(row) -> the line of one workload; a ratio below the minimum is marked with `<`."""
    ratio = spread = theirs = "-"
    if row["ratio"] is not None:
        mark = "< " if row["ratio"] < row["minimum"] else ""
        ratio = f"{mark}{row['ratio']:.2f}"
        spread = "{:.2f}-{:.2f}".format(*row["ratio_quartiles"])
        theirs = f"{row['torch_us']:.1f}"
    return table_line(row["title"], f"{row['minimum']:g}", ratio, spread, f"{row['ours_us']:.1f}", theirs)


def scaling_line(scaling: dict) -> str:
    """scaling_line(scaling) -> the sentence under the table."""
    verdict = "within" if scaling["ratio"] <= scaling["limit"] else "ABOVE"
    return (
        f"a node costs {scaling['long_ns_per_node']:.0f} ns in a chain of {LONG}, "
        f"{scaling['short_ns_per_node']:.0f} ns in one of {SHORT}: {scaling['ratio']:.2f} times, "
        f"{verdict} the limit of {scaling['limit']}"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """parse(arguments) -> the options; None reads the command line."""
    names = [workload.name for workload in (*WORKLOADS, *TRANSFORMS, *large_workloads(1))] + [SCALING]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time autograd_cy and torch in turn; a ratio above 1 is faster.",
    )
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1, help="2: the large tensors alone (default 1)")
    listed = ", ".join(names)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=listed)
    parser.add_argument("--rounds", type=int, help="pairs of samples per workload (default 15, quick 3)")
    parser.add_argument("--quick", action="store_true", help="a rough answer in a few seconds")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: other programs disturb it less")
    parser.add_argument("--json", type=Path, default=RESULTS, help="default: build/benchmarks.json")
    options = parser.parse_args(arguments)
    if options.rounds is None:
        options.rounds = 3 if options.quick else 15
    if options.rounds < 2:
        parser.error("--rounds must be at least 2")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) runs the chosen workloads, prints them and writes the JSON file."""
    options = parse(arguments)
    seconds = 0.002 if options.quick else 0.025
    ours, torch = importlib.import_module("autograd_cy"), load_torch(options.threads)
    libraries = [ours, torch] if torch else [ours]
    results: dict = {"machine": machine_facts(ours, torch), "threads": options.threads, "rounds": options.rounds}
    results["clock"] = options.clock
    results["workloads"] = []
    print(", ".join(f"{name} {fact}" for name, fact in results["machine"].items()))
    if torch is None:
        print("torch is not installed: no ratios. `pip install '.[bench]'` brings it.")
    print(table_line("workload", "at least", "ratio", "quartiles", "ours, us", "torch, us"))
    print("|" + "|".join(["---", *["---:"] * 5]) + "|")
    small = (*WORKLOADS, *TRANSFORMS) if options.threads == 1 else ()
    for workload in (*small, *large_workloads(options.threads)):
        if workload.name in options.only:
            results["workloads"].append(run_workload(workload, libraries, options.rounds, seconds, CLOCKS[options.clock]))
            print(table_row(results["workloads"][-1]), flush=True)
    if SCALING in options.only and options.threads == 1:
        results["scaling"] = run_scaling(ours, options.rounds, seconds)
        print(scaling_line(results["scaling"]))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    print(f"written to {options.json}", file=sys.stderr)
