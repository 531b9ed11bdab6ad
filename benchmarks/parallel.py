"""``python -m benchmarks.parallel``: a backward in one thread against one in several.

The graphs are branches that wait, towers of products, a mixture of small MLPs, and graphs of tiny nodes, which several
threads may slow down by a fifth at most. BLAS and kernels use one thread. Only the backward is timed, both kinds in turn. A
figure is the ratio of the medians, of processor time for tiny nodes. On a busy machine the other figures say little: see
how many cores were busy.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # read when NumPy is loaded

import numpy as np  # noqa: E402

import autograd_cy as ag  # noqa: E402
from autograd_cy.autograd.graph import parallel_backward  # noqa: E402

Make = Callable[[], Callable[[], ag.Tensor]]  # returns a function that records a graph and returns its root


class Wait(ag.autograd.Function):
    """Waits for 50 ms in backward."""

    @staticmethod
    def forward(ctx, x):
        """The identity."""
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        """Wait, then return the gradient."""
        time.sleep(0.05)
        return g


def leaves(*shapes: tuple[int, ...]) -> list[ag.Tensor]:
    """leaves(*shapes) -> a leaf of float32 for each shape."""
    numbers = np.random.default_rng(0)
    return [ag.tensor((0.1 * numbers.standard_normal(s)).astype(np.float32), requires_grad=True) for s in shapes]


def waiting(count: int = 8) -> Callable[[], ag.Tensor]:
    """waiting(count) -> a graph of branches that wait."""
    (x,) = leaves((4,))
    return lambda: sum([Wait.apply(x * k) for k in range(count)]).sum()


def towers(count: int = 2, depth: int = 4, size: int = 512) -> Callable[[], ag.Tensor]:
    """towers(count, depth, size) -> towers of products of matrices."""
    (x,) = leaves((size, size))
    weights = [leaves(*[(size, size)] * depth) for _ in range(count)]

    def record() -> ag.Tensor:
        tops = []
        for tower in weights:
            y = x
            for w in tower:
                y = y @ w
            tops.append(y)
        return sum(tops).sum()

    return record


def mixture(count: int = 16, batch: int = 64, width: int = 256) -> Callable[[], ag.Tensor]:
    """mixture(count, batch, width) -> the weighted sum of small MLPs."""
    x, gate = leaves((batch, width), (width, count))
    experts = [leaves((width, width), (width,), (width, width), (width,)) for _ in range(count)]

    def record() -> ag.Tensor:
        shares = (x @ gate).softmax(1)
        parts = [((x @ a + b).tanh() @ c + d) * shares[:, k : k + 1] for k, (a, b, c, d) in enumerate(experts)]
        return (sum(parts) ** 2).mean()

    return record


def chain() -> Callable[[], ag.Tensor]:
    """chain() -> a chain of 200 products."""
    x, b = leaves((4, 4), (4, 4))

    def record() -> ag.Tensor:
        y = x
        for _ in range(200):
            y = y * b
        return y.sum()

    return record


def chain_mixed() -> Callable[[], ag.Tensor]:
    """chain_mixed() -> five operations, repeated 40 times."""
    x, shift, bias, b = leaves((4, 4), (4, 4), (4,), (4, 4))

    def record() -> ag.Tensor:
        y = x
        for _ in range(40):
            y = ((y * b + bias).tanh() - shift) / 0.95
        return y.sum()

    return record


def scalars() -> Callable[[], ag.Tensor]:
    """scalars() -> neurons of 0-d tensors."""
    xs, ws = leaves(*[()] * 30), leaves(*[()] * 30)
    return lambda: sum([x * w for x, w in zip(xs, ws, strict=True)]).tanh()


def fan_in() -> Callable[[], ag.Tensor]:
    """fan_in() -> one leaf used 200 times."""
    (x,) = leaves((4, 4))
    return lambda: sum([x * k for k in range(200)]).sum()


# the graph, the number of threads, the required ratio
CASES: dict[str, tuple[Make, int, float]] = {
    "8 branches that wait 50 ms": (waiting, 8, 5.7),
    "2 towers of 4 products 512 x 512": (towers, 2, 1.6),
    "mixture of 16 MLPs, batch 64 x 256": (mixture, 2, 1.4),
    "chain": (chain, 2, 0.83),
    "chain_mixed": (chain_mixed, 2, 0.83),
    "scalars": (scalars, 2, 0.83),
    "fan_in": (fan_in, 2, 0.83),
}


def timed(record: Callable[[], ag.Tensor], threads: int, repeats: int) -> tuple[float, float]:
    """timed(record, threads, repeats) -> wall and processor seconds of a backward."""
    seconds = processor = 0.0
    for _ in range(repeats):
        root = record()
        with parallel_backward(threads):
            start, busy = time.perf_counter(), time.process_time()
            root.backward()
            seconds += time.perf_counter() - start
            processor += time.process_time() - busy
    return seconds / repeats, processor / repeats


def compare(name: str, pairs: int) -> tuple[float, float, float, float]:
    """compare(name, pairs) -> milliseconds in one thread, in several, their ratio, and how many cores were busy."""
    make, threads, asked = CASES[name]
    record = make()
    repeats = max(1, int(0.02 / (timed(record, 1, 1)[0] + 1e-9)))
    timed(record, threads, 2)
    found: dict[int, list[tuple[float, float]]] = {1: [], threads: []}
    for pair in range(pairs):
        for n in (1, threads) if pair % 2 else (threads, 1):
            found[n].append(timed(record, n, repeats))
    column = 1 if asked < 1 else 0
    alone, together = (statistics.median(pair[column] for pair in found[n]) for n in (1, threads))
    cores = statistics.median(busy / seconds for seconds, busy in found[threads])
    return alone * 1e3, together * 1e3, alone / together, cores


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parallel", description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args(arguments)
    print("| backward, ms | one thread | several | ratio | asked | cores |\n|---|---|---|---|---|---|")
    for name, (_, threads, asked) in CASES.items():
        alone, together, ratio, cores = compare(name, options.pairs if alone_is_short(name) else 3)
        print(f"| {name}, {threads} threads | {alone:.3f} | {together:.3f} | {ratio:.2f} | {asked} | {cores:.2f} |")


def alone_is_short(name: str) -> bool:
    """alone_is_short(name) -> whether a backward in one thread takes less than a tenth of a second."""
    return CASES[name][0] is not waiting


if __name__ == "__main__":
    main()
