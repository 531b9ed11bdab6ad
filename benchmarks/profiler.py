"""``python -m benchmarks.profiler``: the cost of profiling, and of reading a profile, beside torch.profiler.

Steps are timed in the middle of a recording, without its start, end and reading, and the buffers hold all events. A plain
and a profiled sample are neighbours, the libraries take turns, and each figure is a median with quartiles. `everything`
means record_shapes, with_stack and profile_memory. The cost of an event is the step's extra time divided by its number of
`events()`; PyTorch has three times as many for the same chain. Both libraries compute on one thread.

Reading is timed for `--events` events: `stop()`, `events()`, `key_averages()` and `export_chrome_trace()`. The last table
has the self times of all events of a step within record_function, divided by the wall time of the step. Figures above the
limit are marked.
"""

import argparse
import gc
import importlib
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":  # as in benchmarks.__main__: read when NumPy is loaded
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch prints each start and stop

from benchmarks.cli import load_torch, table_line
from benchmarks.large import mlp
from benchmarks.timing import Quartiles, quartiles, seconds_per_step, warm_up
from benchmarks.workloads import Library, Step, mlp_step, multiply_chain

STEPS: dict[str, tuple[str, Callable[[Library], Step]]] = {
    "multiply_chain": ("chain of 200 multiplications, 4x4", multiply_chain),
    "mlp_step": ("MLP step, batch 1, 64-16-10", mlp_step),
    "mlp_32": ("MLP step, batch 32, 64 hidden", lambda t: mlp(t, 32, 64)),
}
OPTIONS: dict[str, dict[str, bool]] = {
    "defaults": {},
    "record_shapes": {"record_shapes": True},
    "with_stack": {"with_stack": True},
    "everything": {"record_shapes": True, "with_stack": True, "profile_memory": True},
}
RATIO_LIMITS = {("multiply_chain", "defaults"): 1.6}
EVENT_LIMIT = 120.0  # ns
SELF_TIME_LIMIT = 0.03
ROOM = 1 << 14  # events of a recording that fit with their shapes and stacks
BATCH = 20  # steps before the timed ones
READING = ("stop()", "events()", "key_averages()", "export_chrome_trace()")
EVENTS = 100_000


class Sample(NamedTuple):
    """A profiled step beside a plain one."""

    ratio: float
    ns_an_event: float


def line(title: str, limit: float | None, figures: Sequence[Quartiles], digits: int) -> str:
    """line(title, limit, figures, digits) -> a row: the limit, ours and torch's, each with its quartiles."""
    cells = ["-" if limit is None else f"{limit:g}"]
    for k, figure in enumerate(figures):
        mark = "> " if k == 0 and limit is not None and figure.median > limit else ""
        cells += [f"{mark}{figure.median:.{digits}f}", f"{figure.low:.{digits}f}-{figure.high:.{digits}f}"]
    return table_line(title, *cells, *["-"] * (5 - len(cells)))


def head(title: str) -> None:
    """head(title) prints the head of a table."""
    print(f"\n{table_line(title, 'at most', 'ours', 'quartiles', 'torch', 'quartiles')}")
    print("|" + "|".join(["---", *["---:"] * 5]) + "|")


def recording(library: Library, options: dict[str, bool]) -> Any:
    """recording(library, options) -> a started profile."""
    profile = importlib.import_module(f"{library.__name__}.profiler").profile(**options)
    profile.start()
    return profile


def events_per_step(library: Library, step: Step, options: dict[str, bool]) -> float:
    """events_per_step(library, step, options) -> the number of `events()` of a step."""
    profile = recording(library, options)
    for _ in range(BATCH):
        step()
    profile.stop()
    return len(profile.events()) / BATCH


class Pair:
    """Pair(library, step, options, seconds): a step of a library, plain and profiled, each sample at least that long."""

    def __init__(self, library: Library, step: Step, options: dict[str, bool], seconds: float) -> None:
        self.library, self.step, self.options = library, step, options
        self.events = events_per_step(library, step, options)
        self.repeats = max(min(warm_up(step, seconds), int(ROOM / self.events) - BATCH), 1)

    def seconds(self) -> float:
        """seconds() -> the time of a step."""
        seconds_per_step(self.step, BATCH)
        return seconds_per_step(self.step, self.repeats)

    def sample(self) -> Sample:
        """sample() -> the profiled step beside a plain one, each after some steps that fill the caches."""
        gc.collect()  # frees the last profile
        plain = self.seconds()
        profile = recording(self.library, self.options)
        profiled = self.seconds()
        profile.stop()
        return Sample(profiled / plain, 1e9 * (profiled - plain) / self.events)


def step_rows(libraries: Sequence[Library], names: Sequence[str], rounds: int, seconds: float) -> Iterator[tuple]:
    """step_rows(libraries, names, ...) yields for each step and set of options both names and the samples."""
    for name in names:
        for options in OPTIONS:
            pairs = [Pair(library, STEPS[name][1](library), OPTIONS[options], seconds) for library in libraries]
            samples: list[list[Sample]] = [[] for _ in pairs]
            for _ in range(rounds):
                for pair, taken in zip(pairs, samples, strict=True):
                    taken.append(pair.sample())
            yield name, options, samples


def reading_times(library: Library, step: Step, options: dict[str, bool], steps: int) -> list[float]:
    """reading_times(...) -> seconds of each of READING, and bytes of trace per event, for a recording of `steps` steps."""
    gc.collect()
    profile = recording(library, options)
    for _ in range(steps):
        step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        calls = (profile.stop, profile.events, profile.key_averages, lambda: profile.export_chrome_trace(str(path)))
        taken = []
        for call in calls:
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
        return [*taken, path.stat().st_size / len(profile.events())]


def read_rows(libraries: Sequence[Library], options: dict[str, bool], rounds: int, events: int) -> list[list[Quartiles]]:
    """read_rows(libraries, options, ...) -> for each library the quartiles of READING for `events`, and of the bytes."""
    rows = []
    for library in libraries:
        step = multiply_chain(library)
        an_event = events_per_step(library, step, options)
        steps = max(round(events / an_event), 1)
        scale = events / (steps * an_event)
        taken = [reading_times(library, step, options, steps) for _ in range(rounds)]
        times = [quartiles([1e3 * scale * sample[k] for sample in taken]) for k in range(len(READING))]
        rows.append([*times, quartiles([sample[-1] for sample in taken])])
    return rows


def self_time(library: Library, step: Step, steps: int = BATCH) -> float:
    """self_time(library, step) -> the sum of self times over the wall time, for steps within record_function."""
    region = importlib.import_module(f"{library.__name__}.profiler").record_function
    profile, taken = recording(library, {}), 0.0
    for _ in range(steps):
        start = time.perf_counter()
        with region("step"):
            step()
        taken += time.perf_counter() - start
    profile.stop()
    return profile.events().self_cpu_time_total / 1e6 / taken


def print_steps(libraries: Sequence[Library], names: Sequence[str], rounds: int, seconds: float) -> None:
    """print_steps(...) prints the tables of ratios and of events."""
    events = []
    head("profiled step over plain step")
    for name, options, samples in step_rows(libraries, names, rounds, seconds):
        title = f"{STEPS[name][0]}, {options}"
        ratios = [quartiles([sample.ratio for sample in taken]) for taken in samples]
        print(line(title, RATIO_LIMITS.get((name, options)), ratios, 2), flush=True)
        events.append((title, options, [quartiles([sample.ns_an_event for sample in taken]) for taken in samples]))
    head("what an event costs, ns")
    for title, options, figures in events:
        print(line(title, EVENT_LIMIT if options == "defaults" else None, figures, 0))


def print_reading(libraries: Sequence[Library], rounds: int, events: int) -> None:
    """print_reading(...) prints the time to read a recording, and the size of its trace."""
    head(f"to read {events} events of the chain, ms")
    sizes = []
    for options in ("defaults", "everything"):
        *times, size = zip(*read_rows(libraries, OPTIONS[options], rounds, events), strict=True)
        for call, figures in zip(READING, times, strict=True):
            print(line(f"{call}, {options}", None, figures, 1), flush=True)
        sizes.append((options, size))
    head("trace, bytes an event")
    for options, size in sizes:
        print(line(options, None, size, 0))


def print_self_times(libraries: Sequence[Library], rounds: int) -> None:
    """print_self_times(...) prints how far the sum of self times is from the wall time."""
    head("sum of self times over the time of a step, distance from 1")
    found = []
    for library in libraries:
        step = multiply_chain(library)
        found.append(quartiles([abs(self_time(library, step) - 1) for _ in range(rounds)]))
    print(line(STEPS["multiply_chain"][0], SELF_TIME_LIMIT, found, 4))


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) measures and prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profiler", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS), metavar="STEP")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--events", type=int, default=EVENTS, help=f"of a recording that is read (default {EVENTS})")
    parser.add_argument("--quick", action="store_true", help="a rough answer")
    options = parser.parse_args(arguments)
    rounds, readings, seconds = (2, 2, 0.002) if options.quick else (options.rounds, 5, 0.02)
    torch = load_torch(1)
    libraries = [importlib.import_module("autograd_cy"), *([torch] if torch else [])]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The profiler (has dropped|had no room)")
        print_steps(libraries, options.only, rounds, seconds)
        print_reading(libraries, readings, options.events)
        print_self_times(libraries, rounds)


if __name__ == "__main__":
    main()
