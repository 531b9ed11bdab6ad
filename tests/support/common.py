"""What the tests of the engine share: leaves, a counting op, and the mark of deliberate differences.

The tests say `import autograd_cy as torch`, and hold for PyTorch as well: with a module on the path
that hands out torch under the package's name, they check themselves against the original.
"""

import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import autograd_cy as torch

ROOT = Path(__file__).resolve().parents[2]        # the folder of README.md


def is_part(path, root=ROOT):
    """Whether a source, a path below `root`, is a part of a module: graph/tensor/tensor_life.pyx of graph/tensor.pyx."""
    return (root / path.parent).with_suffix(".pyx").exists()


IS_TORCH = torch.__name__ == "torch"

# Under `make sanitize`, whose allocator is another one.
measures_memory = pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer takes memory, too")


def said():
    """said() -> the documented differences: the limits in README.md, then the first column of docs/differences.md."""
    readme, table = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/differences.md")]
    limits = readme.partition("## What works and what does not")[2].partition("\n## ")[0]
    rows = table.splitlines()
    return [limits, *(row.split(" | ")[0] for row in rows if row.startswith("| "))]


def differs(phrase, reason):
    """differs(phrase, reason) -> a mark for a test of a deliberate difference from PyTorch; said() contains the phrase."""
    if not any(phrase in what for what in said()):
        raise LookupError(f"neither README.md nor docs/differences.md has {phrase!r}")
    return pytest.mark.skipif(IS_TORCH, reason=f"PyTorch: {reason}")


def ours(reason):
    """Mark a test of what only this package has: by its own names, or within."""
    return pytest.mark.skipif(IS_TORCH, reason=f"not PyTorch's: {reason}")


def leaf(data, dtype=torch.float64):
    """A tensor that requires a gradient."""
    return torch.tensor(data, dtype=dtype, requires_grad=True)


class Double(torch.autograd.Function):
    """2 * x, saving nothing; `calls` counts its backwards since the last `Double.calls = 0`."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Double.calls += 1
        return g * 2


class Fail(torch.autograd.Function):
    """The identity, whose backward raises ArithmeticError while `Fail.armed`, which each test finds True."""

    armed = True

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        if Fail.armed:
            raise ArithmeticError("armed")
        return g


class SaveBoth(torch.autograd.Function):
    """x * x, saving its input and its output."""

    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * 2 * x


def define(forward, backward=None, **others):
    """A Function subclass named F, of these static methods."""
    methods = {"forward": forward, "backward": backward, **others}
    return type("F", (torch.autograd.Function,), {name: staticmethod(f) for name, f in methods.items() if f})


def tangent(f, direction, *primals):
    """The tangent of f(*primals) when the first of them moves in `direction`."""
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        out = f(forward_ad.make_dual(primals[0], direction), *primals[1:])
        return forward_ad.unpack_dual(out).tangent


def watch(build):
    """Weak references to the tensors that `build` returns, with no other reference to them."""
    return [weakref.ref(t) for t in build()]


def alive(refs):
    return [r() is not None for r in refs]


def run_script(script):
    """What a fresh interpreter prints: for what happens once in a process."""
    command = [sys.executable, "-W", "always", "-c", "import autograd_cy as torch\n" + script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def in_threads(count, work, stack=0):
    """Call work(0), work(1), ... at once, a thread each, with a stack of that many bytes (0: as usual)."""
    start = threading.Barrier(count)

    def run(number):
        start.wait()
        work(number)

    usual = threading.stack_size(stack)
    try:
        with ThreadPoolExecutor(count) as pool:
            calls = [pool.submit(run, number) for number in range(count)]
    finally:
        threading.stack_size(usual)
    for call in calls:
        call.result()
