"""``python -m benchmarks.memory``: the peak memory of a step, beside the memory that it must hold and beside torch's peak.

Each figure is the peak growth of a process's resident memory during a step. The same step ran before, and kept memory was
then released. A step must hold its gradients, its saved tensors and its result, without the leaves. If it is more, the
figure is the largest sum at one moment of backward: tensors still saved, gradients so far, and the gradient that arrives at
a node. Rows below a megabyte are measured with larger tensors, or left out if only the size differs, because pages and free
lists would be as large. Linux only.
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
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.cli import table_line
from benchmarks.large import ROWS, activation, attention, function, mlp
from benchmarks.workloads import Library, Step

ROOT = Path(__file__).resolve().parents[1]
Row = tuple[str, str, Callable[[Library], Step]]
LARGER: list[Row] = [
    *(
        (f"{name}_1e6", f"{name}, 10^6", lambda t, name=name: function(t, name, (10**6,)))
        for name in ("exp", "log", "sin", "sqrt", "sigmoid")
    ),
    ("gelu_erf_1e6", "gelu by erf, 10^6", lambda t: activation(t, "gelu", 10**6)),
    ("silu_1e6", "silu, 10^6", lambda t: activation(t, "silu", 10**6)),
    ("attention_128", "softmax(q k^T / 8) v, batch 128, 64 x 64", lambda t: attention(t, 128)),
    ("mlp_2048", "MLP step, batch 2048, 512 hidden", lambda t: mlp(t, 2048, 512)),
]
STEPS = {name: setup for name, _, _, setup in ROWS} | {name: setup for name, _, setup in LARGER}
TITLES = {name: title for name, title, _, _ in ROWS} | {name: title for name, title, _ in LARGER}
SMALLEST = 1 << 20
LIMIT = 1.1
NOISE = 1 << 17  # the system counts pages in batches of 32 for each core
SMALL_PAGES = {"NUMPY_MADVISE_HUGEPAGE": "0"}  # leaves made in NumPy would leave a large heap behind, in either library


def status(field: str) -> int:
    """status(field) -> bytes: an entry of /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def give_back(library: Library) -> None:
    """give_back(library) collects garbage and releases the memory that the pool and the C library keep."""
    gc.collect()
    if hasattr(library, "memory"):
        library.memory.empty_cache()
    ctypes.CDLL(None).malloc_trim(0)


def peak_of(step: Step, library: Library, repeats: int = 3) -> int:
    """peak_of(step, library) -> bytes: the least of some runs, because disturbances only add."""
    _gradients: tuple | None = step()
    peaks = []
    for _ in range(repeats):
        _gradients = None
        give_back(library)
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        before = status("VmRSS")
        _gradients = step()
        peaks.append(status("VmHWM") - before)
    return min(peaks)


def bytes_once(arrays: Iterable[np.ndarray], without: Iterable[np.ndarray]) -> int:
    """bytes_once(arrays, without) -> the bytes of distinct memory, without memory inside other arrays."""
    known = [np.lib.array_utils.byte_bounds(a) for a in without]
    total = 0
    for array in arrays:
        start, end = np.lib.array_utils.byte_bounds(array)
        if not any(first <= start and end <= last for first, last in known):
            known.append((start, end))
            total += end - start
    return total


class Held:
    """Replaces a saved tensor in a node, and is freed with its slot."""

    def __init__(self, x: object) -> None:
        self.array: np.ndarray = x.detach().numpy()  # type: ignore[attr-defined]
        self.tensor = x


class Watch:
    """Watch(ours) notes the memory of a step during `stepping()`; `most` is the largest sum at one moment of backward."""

    def __init__(self, ours: Library) -> None:
        self.ours = ours
        self.leaves: list[object] = []
        self.given: list[np.ndarray] = []
        self.results: list[np.ndarray] = []
        self.saved: list[np.ndarray] = []
        self.held: list[weakref.ref[Held]] = []
        self.most = 0

    def pack(self, x: object) -> Held:
        held = Held(x)
        self.saved.append(held.array)
        self.held.append(weakref.ref(held))
        return held

    def at_node(self, gradients: tuple) -> None:
        """Called before a node computes: notes the memory that it and later nodes read."""
        saved = [held.array for ref in self.held if (held := ref()) is not None]
        arriving = [g.detach().numpy() for g in gradients if g is not None]
        done = [leaf.grad.numpy() for leaf in self.leaves if leaf.grad is not None]  # type: ignore[attr-defined]
        self.most = max(self.most, bytes_once(saved + arriving + self.results + done, self.given))

    @contextmanager
    def stepping(self) -> Iterator[None]:
        """A context in which tensors, results and saved tensors are noted."""
        ours, backward, tensor = self.ours, self.ours.autograd.backward, self.ours.tensor

        def noted_tensor(*args: object, **kwargs: object) -> object:
            made = tensor(*args, **kwargs)
            self.leaves.append(made)
            self.given.append(made.detach().numpy())
            return made

        def noted_backward(result: object, seed: object = None, *args: object, **kwargs: object) -> None:
            self.results.append(result.detach().numpy())  # type: ignore[attr-defined]
            self.given += [seed.numpy()] if seed is not None else []  # type: ignore[attr-defined]
            for node in nodes_of(result.grad_fn):  # type: ignore[attr-defined]
                node.register_prehook(self.at_node)
            backward(result, seed, *args, **kwargs)

        with mock.patch.object(ours.autograd, "backward", noted_backward), mock.patch.object(ours, "tensor", noted_tensor):
            with ours.autograd.graph.saved_tensors_hooks(self.pack, lambda held: held.tensor):
                yield


def nodes_of(root: Any) -> list[Any]:
    """nodes_of(root) -> all nodes of a graph."""
    found, ahead = [], [root]
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.append(node)
            ahead += [following for following, _ in node.next_functions if following is not None]
    return found


def must_hold(ours: Library, name: str) -> int:
    """must_hold(ours, name) -> bytes: the row's saved tensors, result and gradients."""
    watch = Watch(ours)
    with watch.stepping():
        gradients = [g.numpy() for g in STEPS[name](ours)()]
    return max(bytes_once(watch.saved + watch.results + gradients, watch.given), watch.most)


def measured(name: str, library: str) -> int:
    """measured(name, library) -> bytes: the peak of a row's step, from a new process."""
    command = [sys.executable, "-m", "benchmarks.memory", "--one", name, library]
    environment = os.environ | SMALL_PAGES | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(ROOT)])}
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
    """main(arguments) prints the table; with --one, it measures one row in this process."""
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
