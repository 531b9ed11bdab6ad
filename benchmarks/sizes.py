"""``python -m benchmarks.sizes``: one step's time against the size of its tensors, for several libraries, as a picture.

The step is y = tanh(a * b) + a and its backward from ones, in float32, on one thread. "NumPy by hand" evaluates the
formulas and records nothing. A library that is not installed has no line.
"""

import argparse
import importlib
import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from benchmarks.large import chain
from benchmarks.timing import measure, quartiles
from benchmarks.workloads import Step

ROOT = Path(__file__).resolve().parents[1]
SIZES = [round(10 ** (k / 2)) for k in range(15)]  # 1 to 10^7

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # two operands and the seed


def operands(size: int) -> Arrays:
    """operands(size) -> a, b and ones, float32."""
    random = np.random.default_rng(0)
    a, b = (0.1 * random.standard_normal(size).astype(np.float32) for _ in range(2))
    return a, b, np.ones(size, np.float32)


def by_hand(_: None, size: int) -> Step:
    """The formulas written out, with as few temporaries as NumPy allows."""
    a, b, seed = operands(size)

    def step() -> tuple:
        product = np.tanh(a * b)
        y = product + a
        slope = (1 - product * product) * seed
        return y, slope * b + seed, slope * a

    return step


def hips(autograd: ModuleType, size: int) -> Step:
    """The vjp of the same function in HIPS autograd."""
    numpy = importlib.import_module("autograd.numpy")
    a, b, seed = operands(size)

    def step() -> tuple:
        vjp, y = autograd.make_vjp(lambda pair: numpy.tanh(pair[0] * pair[1]) + pair[0])((a, b))
        return y, vjp(seed)

    return step


def mygrad(library: ModuleType, size: int) -> Step:
    """MyGrad, whose tensors have a backward method."""
    a, b, seed = operands(size)
    a, b = library.tensor(a), library.tensor(b)

    def step() -> tuple:
        y = library.tanh(a * b) + a
        y.backward(seed)
        return a.grad, b.grad

    return step


LIBRARIES: dict[str, tuple[str | None, Callable[..., Step]]] = {
    "autograd_cy": ("autograd_cy", lambda library, size: chain(library, (size,))),
    "PyTorch": ("torch", lambda library, size: chain(library, (size,))),
    "HIPS autograd": ("autograd", hips),
    "MyGrad": ("mygrad", mygrad),
    "NumPy by hand": (None, by_hand),
}


def installed() -> dict[str, Callable[[int], Step]]:
    """installed() -> for each installed library, the function that makes its step."""
    found: dict[str, Callable[[int], Step]] = {}
    for name, (module, setup) in LIBRARIES.items():
        try:
            library = importlib.import_module(module) if module else None
        except ImportError:
            print(f"{name} is not installed: no line")
            continue
        if module in ("autograd_cy", "torch"):
            library.set_num_threads(1)  # type: ignore[union-attr]
        found[name] = lambda size, library=library, setup=setup: setup(library, size)  # type: ignore[misc]
    return found


def run(sizes: Sequence[int], rounds: int, seconds: float) -> dict[str, list[float]]:
    """run(sizes, ...) -> for each library the median seconds of a step, by size."""
    steps = installed()
    times: dict[str, list[float]] = {name: [] for name in steps}
    for size in sizes:
        samples = measure([setup(size) for setup in steps.values()], rounds, seconds)
        for name, taken in zip(steps, samples, strict=True):
            times[name].append(quartiles(taken).median)
        print(f"{size:>9} " + "  ".join(f"{name} {1e6 * taken[-1]:.1f} us" for name, taken in times.items()), flush=True)
    return times


def draw(sizes: Sequence[int], times: dict[str, list[float]], path: Path) -> None:
    """draw(sizes, times, path) saves the picture."""
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for name, seconds in times.items():
        style = {"color": "black", "linestyle": ":"} if name == "NumPy by hand" else {}
        axes.loglog(sizes, [1e6 * s for s in seconds], label=name, linewidth=2.5 if name == "autograd_cy" else 1.5, **style)
    axes.set_xlabel("elements of each tensor (float32)")
    axes.set_ylabel("microseconds a step")
    axes.set_title("y = tanh(a * b) + a, and y.backward(ones): one thread, 2 cores, " + platform.machine().replace("_", "-"))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) measures, and writes docs/sizes.png and build/sizes.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizes", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes, a rough answer")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs" / "sizes.png")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "sizes.json")
    options = parser.parse_args(arguments)
    sizes = SIZES[:9:4] if options.quick else SIZES
    times = run(sizes, rounds=3 if options.quick else 9, seconds=0.002 if options.quick else 0.02)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"sizes": sizes, "seconds": times}, indent=2) + "\n")
    draw(sizes, times, options.picture)


if __name__ == "__main__":
    main()
