"""Right functions, for false alarms: the right version of each mutant, the rows of the op table, and functions at kinks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from op_calls import OF_MEMORY, Call, gradient_dtypes, nonempty, samples_of
from op_case import Maker
from opinfo import DIFFERENTIABLE

from mutants.corpus import LIBRARIES, MUTANTS

__all__ = ["RandomMaker", "Right", "right_functions"]


class RandomMaker(Maker):
    """A Maker whose values are random, where Maker's are always the same."""

    def __init__(self, dtype, domain, rng) -> None:
        super().__init__(dtype, domain)
        self._rng = rng

    def _draw(self, shape, domain):
        widths = np.array([high - low for low, high in domain])
        pieces = self._rng.choice(len(domain), size=shape, p=widths / widths.sum())
        return np.array([low for low, _ in domain])[pieces] + widths[pieces] * self._rng.random(shape)


@dataclass(frozen=True)
class Right:
    """A right function at a point: `at(library, module, rng)` gives the function and its arrays, random ones with an rng.

    `forward`: it has a forward mode. `second`: its derivative can be differentiated (by all entries). `kink`: it is at one,
    where finite differences have two sides.
    """

    name: str
    at: Callable = field(repr=False)
    libraries: tuple[str, ...] = LIBRARIES
    forward: bool = True
    second: bool = True
    kink: bool = False


def _repaired() -> Iterator[Right]:
    """The right version of each mutant, once."""
    seen = set()
    for mutant in MUTANTS:
        if mutant.repaired in seen:
            continue
        seen.add(mutant.repaired)

        def at(library, module, rng, mutant=mutant):
            make = rng and RandomMaker(mutant.inputs.dtype, None, rng)
            return mutant.function(library, module, wrong=False), mutant.inputs.arrays(make)

        columns = {"forward": mutant.forward, "second": mutant.second, "kink": mutant.kind == "at ties"}
        yield Right(mutant.repaired, at, mutant.libraries, **columns)


def _rows() -> Iterator[Right]:
    """Each row of the op table, with each of its samples that has something to differentiate."""
    for row in [row for row in DIFFERENTIABLE if row.name not in OF_MEMORY]:
        for dtype in gradient_dtypes(row):
            for i, sample in enumerate(samples_of(row, dtype)):
                if not nonempty(row, sample):
                    continue

                def at(library, module, rng, row=row, dtype=dtype, i=i, sample=sample):
                    if rng is not None:
                        sample = list(row.samples(RandomMaker(dtype, row.domain, rng)))[i]
                    call = Call(row, sample, module)
                    return call.function, [np.copy(a) for a in call.arrays]

                if Call(row, sample).arrays:
                    yield Right(f"{row.name}, sample {i} in {dtype}", at, LIBRARIES[:2])


# Functions at ties, zeros and bounds: what they give there is a derivative from one side or between the two.
_X = [[-1.0, 0.0, 2.0], [0.0, 0.5, 2.0]]
_Y = [[-1.0, 1.0, 2.0], [0.0, 0.5, -2.0]]
KINKS = {
    "relu at 0": (lambda t, x: t.relu(x), _X),
    "abs at 0": (lambda t, x: t.abs(x), _X),
    "leaky relu at 0": (lambda t, x: t.nn.functional.leaky_relu(x), _X),
    "clamp at its bounds": (lambda t, x: t.clamp(x, 0.0, 2.0), _X),
    "clamp from below": (lambda t, x: t.clamp(x, min=0.5), _X),
    "max of all, tied": (lambda t, x: x.max(), _X),
    "min of all, tied": (lambda t, x: -x.min(), [[3.0, 1.0, 1.0]]),
    "max of rows, tied": (lambda t, x: x.max(1)[0], [[1.0, 1.0, 0.0], [2.0, 3.0, 3.0]]),
    "amax of all, tied": (lambda t, x: t.amax(x), _X),
    "amax of columns, tied": (lambda t, x: t.amax(x, 0), [[1.0, 2.0], [1.0, 0.0]]),
    "amin of rows, tied": (lambda t, x: t.amin(x, 1), [[1.0, 1.0, 1.0], [0.0, -1.0, -1.0]]),
    "maximum, tied": (lambda t, x, y: t.maximum(x, y), _X, _Y),
    "minimum, tied": (lambda t, x, y: t.minimum(x, y), _X, _Y),
    "maximum of a number": (lambda t, x: t.maximum(x, t.zeros_like(x)), _X),
    "topk, tied": (lambda t, x: t.topk(x, 2)[0], [[1.0, 1.0, 0.0], [3.0, 2.0, 2.0]]),
    "where at 0": (lambda t, x: t.where(x > 0, x, 0.5 * x), _X),
    "l1 loss of equals": (lambda t, x, y: t.nn.functional.l1_loss(x, y), _X, _Y),
    "hinge at 1": (lambda t, x: t.relu(1 - x).sum(), [[1.0, 0.5, 2.0]]),
    "norm at 0": (lambda t, x: x.norm(), [[0.0, 0.0]]),
    "norm 1 at 0": (lambda t, x: x.norm(1), _X),
    "largest norm, tied": (lambda t, x: x.norm(float("inf")), [[2.0, -2.0, 1.0]]),
    "product with zeros": (lambda t, x: x.prod(), [[0.0, 0.0, 2.0]]),
    "product with a zero": (lambda t, x: x.prod(1), _X),
    "x |x| at 0": (lambda t, x: x * x.abs(), _X),
    "square of relu at 0": (lambda t, x: t.relu(x) ** 2, _X),
    "clamp of clamp": (lambda t, x: t.clamp(t.clamp(x, -1.0, 1.0), 0.0, 2.0), [[-1.0, 1.0, 0.0]]),
    "x to the power of 2 at 0": (lambda t, x: x**2, _X),
    "x to the power of 1 at 0": (lambda t, x: x**1, _X),
    "max of a constant row": (lambda t, x: (x * 0 + 1).max(1)[0], _X),
}


def _kinks() -> Iterator[Right]:
    for name, (function, *arrays) in KINKS.items():

        def at(library, module, rng, function=function, arrays=arrays):
            return lambda *inputs: function(module, *inputs), [np.array(a) for a in arrays]

        yield Right(name, at, LIBRARIES[:2], second=False, kink=True)


def right_functions(*, rows: bool = True) -> list[Right]:
    """All of them, or without the rows of the op table. (It is a function: the rows' samples take a moment to make.)"""
    return [*_repaired(), *(_rows() if rows else ()), *_kinks()]
