"""What the crossings are about: operations and layers, each with its arguments, as functions of the tensors to differentiate.

A subject's `call(wrap)` is made anew for each run. It has `inputs` (the arrays that go in, laid out by `wrap`), `leaves()`
and `function(*leaves)`, which gives the outputs that have a gradient.
"""

from dataclasses import dataclass

import numpy as np
from layer_rows import ROWS, Row
from op_calls import Call, samples_of
from op_case import HALF, OpInfo, S, Sample, map_arrays
from opinfo import DIFFERENTIABLE, ELEMENTWISE, REDUCTIONS

import autograd_cy as ag


@dataclass(frozen=True)
class OpSubject:
    row: OpInfo
    sample: Sample
    name: str

    @property
    def strided(self) -> bool:
        return self.row.strided

    def call(self, wrap):
        return Call(self.row, self.sample, wrap=wrap)


@dataclass(frozen=True)
class LayerSubject:
    row: Row
    dtype: str
    training: bool
    name: str
    strided = True

    def call(self, wrap):
        return LayerCall(self, wrap)


class LayerCall:
    """A layer as a function of its inputs and parameters, all of which are laid out."""

    def __init__(self, subject: LayerSubject, wrap):
        self.row, dtype = subject.row, getattr(ag, subject.dtype)
        self.layer = self.row.make().to(dtype).train(subject.training)
        self.names = [name for name, _ in self.layer.named_parameters()]
        given = [x.to(dtype) if x.is_floating_point() else x for x in self.row.draw()]
        self.fixed = {k: wrap(x.numpy()) for k, x in enumerate(given) if not x.requires_grad}
        self.arrays = [wrap(x.detach().numpy()) for x in given if x.requires_grad]
        self.arrays += [wrap(p.detach().numpy()) for p in self.layer.parameters()]
        self.inputs = [*self.fixed.values(), *self.arrays]

    def leaves(self) -> list:
        return [ag.from_numpy(array).requires_grad_() for array in self.arrays]

    def function(self, *leaves) -> tuple:
        count = len(leaves) - len(self.names)
        parameters, inputs = dict(zip(self.names, leaves[count:], strict=True)), list(leaves[:count])
        for k, array in self.fixed.items():
            inputs.insert(k, ag.from_numpy(array))
        ag.manual_seed(2)  # for what it draws in training
        made = ag.func.functional_call(self.layer, parameters, tuple(inputs))
        return tuple(y for y in flat(made) if y.is_floating_point())


def flat(made) -> list:
    """The tensors of a result."""
    if isinstance(made, ag.Tensor):
        return [made]
    return [y for part in made for y in flat(part)] if isinstance(made, (list, tuple)) else []


# operations

COUNT = 140  # 5 * 4 * 7: more than a few vectors, and a rest


def more_samples(row, dtype: str) -> list[Sample]:
    """Larger ones, of three dimensions, where what a sample looks like is known."""
    few = samples_of(row, dtype)
    if row in ELEMENTWISE:
        alike = next(s for s in few if set(shapes_of(s)) == {(2, 3)})
        return [Sample(map_arrays(lambda a: np.resize(a, COUNT).reshape(5, 4, 7), alike.args), alike.kwargs)]
    if row in REDUCTIONS:
        x = np.random.default_rng(3).permutation(np.linspace(0.5, 1.5, COUNT)).reshape(5, 4, 7)
        x = (x * (1 + 0.1j) if dtype.startswith("complex") else x).astype(dtype)
        many = any(isinstance(s.kwargs.get("dim"), tuple) for s in few)
        return [S(x, dim=dim) for dim in (0, 1, 2, *([(0, 2), (1, 2)] if many else []))]
    return []


def shapes_of(sample) -> list[tuple]:
    shapes = []
    map_arrays(lambda a: shapes.append(a.shape), sample.args)
    return shapes


def op_subjects() -> dict[str, list[OpSubject]]:
    """All samples of all differentiable operations, those of 16 bits included, by the name of the row."""
    found = {}
    for row in DIFFERENTIABLE:
        for dtype in row.dtypes + (HALF if HALF[0] in row.forward else ()):
            for i, sample in enumerate(samples_of(row, dtype) + more_samples(row, dtype)):
                found.setdefault(row.name, []).append(OpSubject(row, sample, f"{row.name}-{dtype}-{i}"))
    return found


# layers


NOT_IN_BFLOAT16 = ("AvgPool3d", "LPPool3d", "CTCLoss")  # refused, as by PyTorch


def layer_subjects() -> dict[str, list[LayerSubject]]:
    """All rows of the table of layers, in two or three types, in training and not."""
    return {
        f"{i}-{row.id}": [
            LayerSubject(row, dtype, training, f"{i}-{row.id}-{dtype}-{training}")
            for dtype in ("float32", "float64", *HALF[1:]) for training in (True, False)
            if dtype != "bfloat16" or not row.id.startswith(NOT_IN_BFLOAT16)
        ]
        for i, row in enumerate(ROWS)
    }  # fmt: skip
