"""``python -m benchmarks.training``: time of PyTorch over that of autograd_cy for a training step of small and larger models.

Both run the same code on one thread, in turn. A cell is the median ratio of neighbouring samples of processor time, which
other programs disturb little; `<` marks a cell below the required ratio.

``--threads 2`` prints the wall time of two threads over that of one, and PyTorch's on two threads over ours, each from the
best of all samples, because disturbances only add. ``--memory`` prints the peak growth of resident memory in MB, the median
of several processes: from the finished model on, including the first steps, which load code and create state; and in later
steps alone, including the memory that the pool keeps between them. Linux only.
"""

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.cli import load_torch, table_line
from benchmarks.memory import NOISE, ROOT, SMALL_PAGES, give_back, status
from benchmarks.timing import measure, ratios, seconds_per_step, warm_up
from benchmarks.workloads import Library, Step


class Training(NamedTuple):
    """A model: its title, the required ratio, and a function that makes a step."""

    name: str
    minimum: float
    step: Callable[[Library], Step]


def trained(torch: Library, model: object, optimizer: str, inputs: tuple, targets: object, **options: float) -> Step:
    """A step: loss, gradients, and the optimizer's part."""
    optimizer = getattr(torch.optim, optimizer)(model.parameters(), **options)
    loss_of = torch.nn.functional.cross_entropy

    def step() -> None:
        optimizer.zero_grad()
        y = model(*inputs)
        loss_of(y.reshape(-1, y.shape[-1]), targets).backward()
        optimizer.step()

    return step


def mlp(torch: Library) -> Step:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    return trained(torch, model, "Adam", (torch.randn(32, 64),), torch.randint(0, 10, (32,)))


def characters(torch: Library) -> Step:
    nn = torch.nn
    model = nn.Sequential(
        nn.Embedding(27, 10), nn.Flatten(), nn.Linear(30, 100, bias=False), nn.BatchNorm1d(100), nn.Tanh(), nn.Linear(100, 27))
    return trained(torch, model, "SGD", (torch.randint(0, 27, (32, 3)),), torch.randint(0, 27, (32,)), lr=0.1)


def transformer(torch: Library, layers: int, width: int, context: int, batch: int) -> Step:
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.letters, self.places = nn.Embedding(65, width), nn.Embedding(context, width)
            layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
            self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.out = nn.Linear(width, 65)
            self.mask = nn.Transformer.generate_square_subsequent_mask(context)

        def forward(self, x: object) -> object:
            x = self.letters(x) + self.places.weight
            return self.out(self.blocks(x, mask=self.mask, is_causal=True))

    numbers = torch.randint(0, 65, (batch, context))
    return trained(torch, Model(), "AdamW", (numbers,), torch.randint(0, 65, (batch * context,)))


def recurrent(torch: Library) -> Step:
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.out = nn.LSTM(32, 32, batch_first=True), nn.Linear(32, 10)

        def forward(self, x: object) -> object:
            return self.out(self.lstm(x)[0][:, -1])

    return trained(torch, Model(), "Adam", (torch.randn(16, 20, 32),), torch.randint(0, 10, (16,)))


def cnn(torch: Library) -> Step:
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10))  # fmt: skip
    return trained(torch, model, "Adam", (torch.randn(64, 1, 8, 8),), torch.randint(0, 10, (64,)))


def convolution(torch: Library) -> Step:
    x, w = torch.randn(16, 32, 28, 28, requires_grad=True), torch.randn(64, 32, 3, 3, requires_grad=True)

    def step() -> None:
        x.grad = w.grad = None
        torch.nn.functional.conv2d(x, w, padding=1).sum().backward()

    return step


def embedding(torch: Library) -> Step:
    table = torch.nn.Embedding(10_000, 64)
    optimizer, rows = torch.optim.SGD(table.parameters(), lr=0.1), torch.randint(0, 10_000, (512,))

    def step() -> None:
        optimizer.zero_grad()
        table(rows).sum().backward()
        optimizer.step()

    return step


def adam(torch: Library) -> Step:
    parameters = [torch.nn.Parameter(torch.randn(32, 32)) for _ in range(100)]
    for parameter in parameters:
        parameter.grad = torch.randn(32, 32)
    return torch.optim.Adam(parameters).step


def attention(torch: Library) -> Step:
    q, k, v = (torch.randn(8, 4, 256, 32, requires_grad=True) for _ in range(3))

    def step() -> None:
        q.grad = k.grad = v.grad = None
        torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()

    return step


TRAININGS = [
    Training("64-32-10 network, batch 32, Adam", 4, mlp),
    Training("character network: embedding, batch norm, tanh, batch 32", 4, characters),
    Training("transformer: 2 layers, 32 wide, 4 heads, context 16, batch 8, AdamW", 4, lambda t: transformer(t, 2, 32, 16, 8)),
    Training("transformer: 4 layers, 128 wide, context 64, batch 16", 1.3, lambda t: transformer(t, 4, 128, 64, 16)),
    Training("LSTM, 32 hidden, 20 steps, batch 16", 3, recurrent),
    Training("CNN on 8 x 8 digits, 16 and 32 channels, batch 64", 1.5, cnn),
    Training("conv2d, 32 to 64 channels, 3 x 3, 28 x 28, batch 16, both ways", 0.9, convolution),
    Training("embedding 10 000 x 64, 512 rows, SGD", 5, embedding),
    Training("step of Adam alone, 100 parameters of 32 x 32", 8, adam),
    Training("causal attention, 8 x 4 heads x 256 x 32, both ways", 1, attention),
]


STEPS = 4               # steps over which the peak memory is taken
SLOWER = 1.05           # the largest ratio of two threads over one: neighbouring runs of one step differ by as much
SHARE = 0.9             # the least part of PyTorch's speed on two threads
SAMPLE = 0.0002         # seconds, or one step: the shorter, the more samples are undisturbed
PAUSE = 0.01            # seconds after which the spinning threads of OpenMP and BLAS sleep


def time_table(rows: Sequence[Training], rounds: int, seconds: float) -> None:
    """time_table(rows, rounds, seconds) prints the ratios on one thread."""
    ours, torch = importlib.import_module("autograd_cy"), load_torch(1)
    ours.set_num_threads(1)
    print(table_line("training step", "at least", "ratio", "ours, us", "torch, us"))
    print("|---|---:|---:|---:|---:|")
    for row in rows:
        steps = [row.step(library) for library in (ours, torch) if library]
        samples = measure(steps, rounds, seconds, time.process_time)
        times = [f"{1e6 * statistics.median(sample):.0f}" for sample in samples]
        ratio = ratios(samples[1], samples[0]).median if torch else float("nan")
        shown = f"{'< ' if ratio < row.minimum else ''}{ratio:.2f}"
        print(table_line(row.name, f"{row.minimum:g}", shown, *times, *([] if torch else ["-"])), flush=True)


def best_times(library: Library, step: Step, rounds: int, seconds: float) -> tuple[float, float]:
    """best_times(library, step, ...) -> the least time of a step with one thread and with two, measured in either order."""
    repeats = warm_up(step, SAMPLE)
    best = {1: float("inf"), 2: float("inf")}
    for pair in range(rounds):
        for threads in (1, 2) if pair % 2 else (2, 1):
            library.set_num_threads(threads)
            time.sleep(PAUSE)
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                best[threads] = min(best[threads], seconds_per_step(step, repeats))
    return best[1], best[2]


def threads_table(rows: Sequence[Training], rounds: int, seconds: float) -> None:
    """threads_table(rows, rounds, seconds) prints the gain of a second thread, and two threads beside PyTorch's two."""
    ours, torch = importlib.import_module("autograd_cy"), load_torch(2)
    print(table_line("training step", "two/one", "torch's", "ratio on two", "ours, us", "torch, us"))
    print("|---|---:|---:|---:|---:|---:|")
    for row in rows:
        one, two = best_times(ours, row.step(ours), rounds, seconds)
        cells = [f"{'> ' if two > SLOWER * one else ''}{two / one:.2f}", "-", "-", f"{1e6 * two:.0f}", "-"]
        if torch:
            their_one, theirs = best_times(torch, row.step(torch), rounds, seconds)
            ratio = f"{'< ' if theirs < SHARE * two else ''}{theirs / two:.2f}"
            cells = [cells[0], f"{theirs / their_one:.2f}", ratio, cells[3], f"{1e6 * theirs:.0f}"]
        print(table_line(row.name, *cells), flush=True)


def growth(step: Step) -> int:
    """growth(step) -> bytes: the peak growth of resident memory in some steps."""
    Path("/proc/self/clear_refs").write_text("5")       # resets the peak
    before = status("VmRSS")
    for _ in range(STEPS):
        step()
    return status("VmHWM") - before


def peaks(name: str, library: Library) -> list[int]:
    """peaks(name, library) -> in this process: the peak above the finished model, and the peak of later steps alone."""
    library.set_num_threads(1)
    step = next(row for row in TRAININGS if row.name == name).step(library)
    give_back(library)
    first = growth(step)
    give_back(library)
    return [first, growth(step)]


def measured_peaks(name: str, library: str, processes: int) -> list[float]:
    """measured_peaks(name, library, processes) -> the median peaks of several processes."""
    command = [sys.executable, "-m", "benchmarks.training", "--one", name, library]
    environment = os.environ | SMALL_PAGES | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(ROOT)])}
    found = [json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
             for _ in range(processes)]
    return [statistics.median(figures) for figures in zip(*found, strict=True)]


def memory_cells(ours: float, theirs: float | None = None) -> list[str]:
    """memory_cells(ours, theirs) -> both in MB, and their ratio, marked if ours is larger by more than the counts' noise."""
    if theirs is None:
        return [f"{ours / 1e6:.2f}", "-", "-"]
    mark = "> " if ours > theirs + NOISE else ""
    return [f"{ours / 1e6:.2f}", f"{theirs / 1e6:.2f}", f"{mark}{ours / max(theirs, 1):.2f}"]


def memory_table(rows: Sequence[Training], processes: int) -> None:
    """memory_table(rows, processes) prints the peaks of both libraries; larger ones than PyTorch's are marked."""
    libraries = ["autograd_cy", "torch"] if importlib.util.find_spec("torch") else ["autograd_cy"]
    print(table_line("peak of training steps, MB", "with first", "torch", "ratio", "later steps", "torch", "ratio"))
    print("|---|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        found = [measured_peaks(row.name, library, processes) for library in libraries]
        cells = [cell for figures in zip(*found, strict=True) for cell in memory_cells(*figures)]
        print(table_line(row.name, *cells), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints the table; with --one, the figures of one row for the parent process."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="pairs of samples for each row (default 21)")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="rows with one of these texts in their names")
    parser.add_argument("--quick", action="store_true", help="a rough answer")
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1, help="2: the gain of a second thread (default 1)")
    parser.add_argument("--memory", action="store_true", help="peaks of memory, not times")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "LIBRARY"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    rows = [row for row in TRAININGS if any(text in row.name for text in options.only)]
    rounds, seconds = (2, 0.001) if options.quick else (options.rounds, 0.01)
    if options.one:
        print(json.dumps(peaks(options.one[0], importlib.import_module(options.one[1]))))
    elif options.memory:
        memory_table(rows, 1 if options.quick else 3)
    elif options.threads == 2:
        threads_table(rows, rounds, seconds)
    else:
        time_table(rows, rounds, seconds)


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):     # BLAS keeps its threads while this object lives
        main()
