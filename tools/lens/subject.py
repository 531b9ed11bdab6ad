"""Runs inside the profiled process: workloads of benchmarks/ or a script, and switches the recorder on for them only.

    python -m tools.lens.subject RECORDER --workloads NAME ...
    python -m tools.lens.subject RECORDER --script SCRIPT [arguments]

RECORDER is callgrind:SWITCH, a library built from switch.c; perf:FIFO, which tells perf to begin; or loop, for samplers.
"""

import ctypes
import gc
import importlib
import os
import sys
import time
from collections.abc import Callable, Sequence

from benchmarks.large import large_workloads
from benchmarks.transforms import TRANSFORMS
from benchmarks.workloads import WORKLOADS, Workload

WARM_UP = 3         # unrecorded calls of a step, which fill caches, free lists and pools
SECONDS = 4.0       # seconds for which a sampler watches a step

# Workloads on small tensors, whose steps spend their time in the core; all workloads.
SMALL = [workload.name for workload in (*WORKLOADS, *TRANSFORMS)]
WORKLOAD_BY_NAME: dict[str, Workload] = {w.name: w for w in (*WORKLOADS, *TRANSFORMS, *large_workloads(1))}


class Callgrind:
    """Counts the instructions of one call."""

    def __init__(self, switch: str):
        self.call = ctypes.PyDLL(switch).record
        self.call.restype, self.call.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_char_p]

    def record(self, title: str, run: Callable[[], object]) -> None:
        """Run once, and have its cost written as a separate part."""
        self.call(run, title.encode())

    record_steps = record


class Perf:
    """Samples calls for SECONDS; perf starts with its counters off."""

    def __init__(self, fifo: str):
        self.fifo = fifo

    def record(self, title: str, run: Callable[[], object]) -> None:
        self.say("enable")
        try:
            run()
        finally:
            self.say("disable")

    def record_steps(self, title: str, step: Callable[[], object]) -> None:
        self.record(title, lambda: repeat(step))

    def say(self, word: str) -> None:
        with open(self.fifo, "w", encoding="ascii") as fifo:
            fifo.write(f"{word}\n")


class Loop:
    """For a sampler that runs from the start."""

    def record(self, title: str, run: Callable[[], object]) -> None:
        run()

    def record_steps(self, title: str, step: Callable[[], object]) -> None:
        repeat(step)


RECORDERS: dict[str, Callable[..., Callgrind | Perf | Loop]] = {"callgrind": Callgrind, "perf": Perf, "loop": Loop}


def repeat(step: Callable[[], object]) -> None:
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        step()


def record_workload(recorder: Callgrind | Perf | Loop, name: str) -> None:
    step = WORKLOAD_BY_NAME[name].setup(importlib.import_module("autograd_cy"))
    for _ in range(WARM_UP):
        step()
    gc.collect()        # otherwise a collection falls into some steps
    recorder.record_steps(name, step)


def record_script(recorder: Callgrind | Perf | Loop, script: str, arguments: Sequence[str]) -> None:
    """Run a script, also one that imports torch, as `python -m autograd_cy script` does."""
    main = importlib.import_module("autograd_cy.__main__")
    sys.argv = [str(main.__file__), script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))       # the safe path is on, so Python did not do this
    recorder.record(script, main.main)


def main() -> None:
    kind, _, argument = sys.argv[1].partition(":")
    recorder = RECORDERS[kind](*([argument] if argument else []))
    what, *rest = sys.argv[2:]
    if what == "--script":
        record_script(recorder, rest[0], rest[1:])
    for name in rest if what == "--workloads" else ():
        print(name, file=sys.stderr, flush=True)
        record_workload(recorder, name)


if __name__ == "__main__":
    main()
