"""``python -m benchmarks.training``: time of PyTorch over that of autograd_cy for a training step of small and larger models.

Both run the same code with one thread, in turn; the cell is the median of the ratios of neighbouring samples of the
processor's time, in which others' work doesn't show, and marked with `<` where it is below what is asked for.
"""

import argparse
import importlib
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.cli import load_torch, table_line
from benchmarks.timing import measure, ratios
from benchmarks.workloads import Library, Step


class Training(NamedTuple):
    """What is trained, the least ratio, and how a step of it is made."""

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


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="pairs of samples for each row (default 21)")
    options = parser.parse_args(arguments)
    ours, torch = importlib.import_module("autograd_cy"), load_torch(1)
    ours.set_num_threads(1)
    print(table_line("training step", "at least", "ratio", "ours, us", "torch, us"))
    print("|---|---:|---:|---:|---:|")
    for row in TRAININGS:
        steps = [row.step(library) for library in (ours, torch) if library]
        samples = measure(steps, options.rounds, 0.01, time.process_time)
        times = [f"{1e6 * statistics.median(sample):.0f}" for sample in samples]
        ratio = ratios(samples[1], samples[0]).median if torch else float("nan")
        shown = f"{'< ' if ratio < row.minimum else ''}{ratio:.2f}"
        print(table_line(row.name, f"{row.minimum:g}", shown, *times, *([] if torch else ["-"])), flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):     # that BLAS keeps its threads
        main()
