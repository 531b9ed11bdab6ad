"""``python -m benchmarks.memory``: the most memory that a step takes, beside what it must hold and what torch takes.

Each figure comes from a process of its own: by how much its resident memory grew, at the most, during a step, after the same
step has been run before and all that is kept for later was given back. What a step must hold are its gradients, what the
graph saves of it, and its result, each memory once, without the leaves. Rows that hold less than a megabyte are left out:
pages, stacks and free lists are as large. Linux only.
"""

import argparse
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.cli import table_line
from benchmarks.large import ROWS
from benchmarks.workloads import Library, Step

ROOT = Path(__file__).resolve().parents[1]
STEPS = {name: setup for name, _, _, setup in ROWS}
TITLES = {name: title for name, title, _, _ in ROWS}
SMALLEST = 1 << 20
LIMIT = 1.1
NOISE = 1 << 17  # pages that a step touches for the first time, objects that are no arrays


def status(field: str) -> int:
    """status(field) -> bytes: an entry of /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def give_back(library: Library) -> None:
    """give_back(library): no garbage, nothing kept by the pool or by the C library."""
    gc.collect()
    if hasattr(library, "memory"):
        library.memory.empty_cache()
    ctypes.CDLL(None).malloc_trim(0)


def peak_of(step: Step, library: Library, repeats: int = 3) -> int:
    """peak_of(step, library) -> bytes: the least of some runs, for disturbances only add to it."""
    _gradients: tuple | None = step()
    peaks = []
    for _ in range(repeats):
        _gradients = None
        give_back(library)
        Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
        before = status("VmRSS")
        _gradients = step()
        peaks.append(status("VmHWM") - before)
    return min(peaks)


def bytes_once(arrays: Iterable[np.ndarray], without: Iterable[np.ndarray]) -> int:
    """bytes_once(arrays, without) -> the bytes of different memory, but for what lies within other arrays."""
    known = [np.lib.array_utils.byte_bounds(a) for a in without]
    total = 0
    for array in arrays:
        start, end = np.lib.array_utils.byte_bounds(array)
        if not any(first <= start and end <= last for first, last in known):
            known.append((start, end))
            total += end - start
    return total


def must_hold(ours: Library, name: str) -> int:
    """must_hold(ours, name) -> bytes: what the row's graph saves, its result and its gradients."""
    leaves: list[np.ndarray] = []
    saved: list[np.ndarray] = []
    results: list[np.ndarray] = []
    backward, tensor = ours.autograd.backward, ours.tensor  # what a step calls

    def noted_tensor(*args: object, **kwargs: object) -> object:
        made = tensor(*args, **kwargs)
        leaves.append(made.detach().numpy())
        return made

    def noted_backward(result: object, *args: object, **kwargs: object) -> None:
        results.append(result.detach().numpy())  # type: ignore[attr-defined]
        backward(result, *args, **kwargs)

    def pack(x: object) -> object:
        saved.append(x.detach().numpy())  # type: ignore[attr-defined]
        return x

    ours.autograd.backward, ours.tensor = noted_backward, noted_tensor
    try:
        step = STEPS[name](ours)
        with ours.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
            gradients = [g.numpy() for g in step()]
    finally:
        ours.autograd.backward, ours.tensor = backward, tensor
    return bytes_once(saved + results, leaves) + sum(g.nbytes for g in gradients)


def measured(name: str, library: str) -> int:
    """measured(name, library) -> bytes: the peak of a row's step, from a new process."""
    command = [sys.executable, "-m", "benchmarks.memory", "--one", name, library]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(ROOT)])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout))


def table(names: Sequence[str]) -> None:
    """table(names) prints a line for each row."""
    ours = importlib.import_module("autograd_cy")
    theirs = bool(importlib.util.find_spec("torch"))
    print(table_line("peak of a step, MB", "must hold", "ours", "torch", "ours/must"))
    print("|" + "|".join(["---", *["---:"] * 4]) + "|")
    for name in names:
        must = must_hold(ours, name)
        if must < SMALLEST:
            continue
        peak = measured(name, "autograd_cy")
        torch = measured(name, "torch") if theirs else None
        over = peak > LIMIT * must + NOISE or (torch is not None and peak > torch + NOISE)
        mark = "ABOVE: " if over else ""
        cells = [f"{n / 1e6:.1f}" if n is not None else "-" for n in (must, peak, torch)]
        print(table_line(f"{mark}{TITLES[name]}", *cells, f"{peak / must:.2f}"), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) measures; with --one, in this process, for the one that started it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS), metavar="NAME")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "LIBRARY"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        library = importlib.import_module(options.one[1])
        print(peak_of(STEPS[options.one[0]](library), library))
    else:
        table(options.only)


if __name__ == "__main__":
    main()
