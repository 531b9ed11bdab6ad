"""A toy of each kind of thing that a contributor adds: its pieces, one for each place to edit by hand."""

import os
import shutil
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A piece of text: a new file, or what is put before the only line of a file that begins with `before`."""

    file: str
    text: str
    before: str | None = None

    def edit(self, root):
        path = root / self.file
        if self.before is None:
            assert not path.exists(), path
            path.write_text(self.text, encoding="utf-8")
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        [number] = [i for i, line in enumerate(lines) if line.startswith(self.before)]
        lines.insert(number, self.text)
        path.write_text("".join(lines), encoding="utf-8")


def changelog(text):
    return Place("CHANGELOG.md", f"- {text}\n", before="- Some 550 operations")


ELEMENTWISE = [
    Place("codegen/pointwise_table.py", """\
    Row("toy_cube", y="a * a * a", da="3 * g * (a * a)", forward_kinds="rc", inexact=True,
        doc=("The third power.", "ag.toy_cube(ag.tensor([2.0]))", "tensor([8.])")),
""", before='    Row("isfinite"'),
    Place("tests/support/opinfo.py", '    _unary("toy_cube", lambda x: x**3),\n', before='    _unary("reciprocal"'),
    changelog("`toy_cube`, the third power."),
]  # fmt: skip

REDUCTION = [
    Place("autograd_cy/_core/ops/reductions/toy_energy.pyx", '''\
"""A toy: the sum of squares."""

from autograd_cy._core.graph.record cimport tensor_argument

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


@op(methods=("toy_energy",), batch=COMPOSITE)
def toy_energy(input, dim: int):
    """toy_energy(input, dim) -> Tensor: the sum of squares along `dim`.

    >>> import autograd_cy as ag
    >>> ag.toy_energy(ag.tensor([3.0, 4.0]), 0)
    tensor(25.)
    """
    x = tensor_argument(input, "toy_energy", "input", 1)
    return (x * x).sum(dim)
'''),
    Place("tests/support/opinfo.py",
          '    _along("toy_energy", lambda x, dim: (x * x).sum(dim), samples.along_dim, forward=ALL, result="sum"),\n',
          before='    _along("logsumexp"'),
    changelog("`toy_energy`, the sum of squares along a dimension."),
]  # fmt: skip

STRUCTURAL = [
    Place("autograd_cy/_core/ops/shapes/toy_opposite.pyx", '''\
"""A toy: the elements with the opposite sign."""

import numpy as np

cimport cython

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_linear
from autograd_cy._core.graph.tensor cimport Tensor

from autograd_cy._core.batching.rules import on_values
from autograd_cy._core.ops.registry import op


@cython.final
cdef class ToyOppositeBackward0(Node):
    cdef object vjp(self, object g, int i):
        return toy_opposite(g)


@op(methods=("toy_opposite",), linear=ToyOppositeBackward0, batch=on_values)
def toy_opposite(input):
    """toy_opposite(input) -> Tensor: the elements with the opposite sign.

    >>> import autograd_cy as ag
    >>> ag.toy_opposite(ag.tensor([1.0]))
    tensor([-1.])
    """
    cdef Tensor x = as_tensor(input, "toy_opposite")
    return record_linear(ToyOppositeBackward0, (), x, np.asarray(-x.array))
'''),
    Place("tests/support/opinfo.py", '    _shape("toy_opposite", np.negative, structural.up_to_2d, forward=NO_BOOL),\n',
          before='    _shape("flip"'),
    changelog("`toy_opposite`, the elements with the opposite sign."),
]  # fmt: skip

LAYER = [
    Place("autograd_cy/nn/modules/toy_doubling.py", '''\
"""A toy (facade)."""

from ..._core.graph.tensor import Tensor
from .module import Module

__all__ = ["ToyDoubling"]


class ToyDoubling(Module):
    """``ToyDoubling()``: twice the input.

    >>> import autograd_cy as ag
    >>> ag.nn.ToyDoubling()(ag.tensor([1.0]))
    tensor([2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return input * 2
'''),
    Place("tests/support/layer_rows.py", '    _activation("ToyDoubling"),\n', before="    # shapes"),
    changelog("`nn.ToyDoubling`."),
]  # fmt: skip

OPTIMIZER = [
    Place("autograd_cy/_core/kernels/update_loops.pyx", '''\
cdef void prepare_toy(const double *options, double *_scalars, double *numbers, bint _fresh) noexcept nogil:
    """Options: lr, sign."""
    numbers[0] = options[0] * options[1]


cdef extern from *:
    "DECLARE_UPDATES(autograd_cy_toy)"

cdef void toy_loop "autograd_cy_toy"(real *p, const real *g, real *_a, real *_b, real *_c, const double *numbers,
                                     npy_intp n) noexcept nogil:
    cdef real lr = <real> numbers[0]
    cdef npy_intp i
    for i in range(n):
        p[i] = p[i] - lr * g[i]

declare("toy", prepare_toy, toy_loop[float], toy_loop[double])


''', before="cdef void prepare_asgd("),
    Place("autograd_cy/optim/toy.py", '''\
"""A toy (facade)."""

from collections.abc import Iterable
from typing import Any

from .._core.graph.tensor import Tensor
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options

__all__ = ["Toy"]


class Toy(_FusedOptimizer):
    """``Toy(params, lr=0.1)``: gradient descent.

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.Toy([w])
    >>> (w * 3).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.7000], requires_grad=True)
    """

    _rule = "toy"
    _scalars = ()

    def __init__(
        self, params: Iterable[Any], lr: float = 0.1, *, maximize: bool = False, differentiable: bool = False
    ) -> None:
        super().__init__(params, {"lr": lr, "maximize": maximize, "differentiable": differentiable})

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ()

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (group["lr"], _sign_of(group))

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        return p - options["lr"] * g, {}
'''),
    Place("tests/support/optim_rows.py", '    "Toy": [{}],\n', before='    "Adam":'),
    changelog("`optim.Toy`."),
]  # fmt: skip

DISTRIBUTION = [
    Place("autograd_cy/distributions/toy_normal.py", '''\
"""A toy (facade)."""

from .normal import Normal

__all__ = ["ToyNormal"]


class ToyNormal(Normal):
    """``ToyNormal(loc, scale)``: Normal by another name.

    >>> import autograd_cy as ag
    >>> ag.distributions.ToyNormal(2.0, 1.0).mean
    tensor(2.)
    """
'''),
    Place("tests/support/distribution_rows.py",
          '    Row("ToyNormal", [[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7], [0.1, 2.0]),\n', before='    Row("LogNormal"'),
    changelog("`distributions.ToyNormal`."),
]  # fmt: skip

# kind: (the places, how many there may be)
KINDS = {
    "elementwise": (ELEMENTWISE, 3),
    "reduction": (REDUCTION, 3),
    "structural": (STRUCTURAL, 3),
    "layer": (LAYER, 3),
    "optimizer": (OPTIMIZER, 4),
    "distribution": (DISTRIBUTION, 3),
}


def copy_tree(source, target):
    """A copy of the project with the build of its core, so that only what is changed is compiled."""
    for name in ("autograd_cy", "codegen", "docs", "tests", "tools"):
        shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("CHANGELOG.md", "README.md", "LICENSE", "pyproject.toml", "setup.py"):
        shutil.copy2(source / name, target / name)
    shutil.copytree(source / "build" / "release", target / "build" / "release")
    compile_fast(target / "setup.py")


def compile_fast(setup):
    """Without optimization, and without a newer file, for which all would be compiled."""
    stat = setup.stat()
    text = setup.read_text(encoding="utf-8")
    assert '"-Os", "-O3"' in text
    setup.write_text(text.replace('"-Os", "-O3"', '"-O0", "-O0"'), encoding="utf-8")
    os.utime(setup, ns=(stat.st_atime_ns, stat.st_mtime_ns))
