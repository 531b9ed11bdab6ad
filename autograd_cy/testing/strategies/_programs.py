"""Random programs."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._programs import (
    BINARY,
    REDUCING,
    TRANSFORMS,
    UNARY,
    VIEWS,
    WRITES,
    Backward,
    Branch,
    Detach,
    Forget,
    Grad,
    Halved,
    Hook,
    Instruction,
    Leaf,
    Mode,
    Op,
    Outline,
    Program,
    Scaled,
    Transform,
    View,
    Write,
)  # fmt: skip
from ._hypothesis import checked, checked_number, st

SHAPES = [(), (3,), (2, 2)]
REGISTERS = 12
number = st.sampled_from([1.0, 2.0, -1.5, -0.5, 0.25, 0.75])
pick = st.integers(0, 9999)
numbers = st.tuples(number, number, number, number)
two_names = st.tuples(st.sampled_from(UNARY), st.sampled_from(UNARY))
leaf = st.tuples(numbers, st.sampled_from(SHAPES), st.booleans())

# What is drawn for an instruction of each kind: it doesn't depend on the program so far, so that parts can be left out.
STEPS: dict[str, st.SearchStrategy[Any]] = {
    "unary": st.tuples(st.sampled_from(UNARY + REDUCING), pick),
    "binary": st.tuples(st.sampled_from(BINARY), pick, pick),
    "view": st.tuples(st.sampled_from(sorted(VIEWS)), pick),
    "write": st.tuples(st.sampled_from(WRITES), pick, number | pick),
    "leaf": leaf,
    "mode": st.tuples(st.booleans()),
    "detach": st.tuples(pick),
    "hook": st.tuples(pick, number),
    "branch": st.tuples(pick, two_names, pick),
    "scaled": st.tuples(pick, pick),
    "halved": st.tuples(pick, st.sampled_from([0.5, 0.3])),
}
TRANSFORM_STEPS: dict[str, st.SearchStrategy[Any]] = {
    "transform": st.tuples(st.sampled_from(sorted(TRANSFORMS)), two_names, pick),
}
MAKING = ("leaf", "unary", "binary", "view", "detach", "branch", "scaled", "halved", "transform")  # a register
WEIGHTS = {"unary": 2, "binary": 3, "view": 3, "write": 4, "grad": 2}  # of the others 1
GRADIENT_STEPS: dict[str, st.SearchStrategy[Any]] = {
    "backward": st.tuples(pick, st.booleans()),
    "grad": st.tuples(pick, pick, st.booleans()),
    "forget": st.tuples(pick),
}


def programs(max_instructions: int = 12, *, differentiable: bool = True) -> st.SearchStrategy[Program]:
    """``programs()`` draws programs of operations, views, writes in place, modes and hooks, on leaves of float64.

    They branch on values, loop until values are small, and take derivatives by `func`. A program is a function of those
    of its leaves that require grad, to a vector: ``program(*program.leaves())``. No write spoils its backward, what it
    computes in no_grad or on detached tensors is not in the result, and its hooks change no gradient: its derivatives
    are those of its values. ``program.text()`` is the source of that function, ``program.run(module)`` runs it on a
    module like torch and keeps all tensors. After its leaves it has up to max_instructions.

    With differentiable=False anything comes: hooks that change gradients, writes that are refused, calls of backward() and
    grad() between other instructions. Such a program can only be run. They shrink to one leaf without dimensions.

    >>> from autograd_cy.testing.strategies import programs
    >>> from hypothesis import find
    >>> program = find(programs(), lambda p: "tanh" in p.text() and ".mul_" in p.text())
    >>> print(len(program.leaves()), program(*program.leaves()).requires_grad)
    1 True
    """
    checked_number("programs", "max_instructions", max_instructions)
    checked("programs", "differentiable", differentiable, bool, "a bool")
    kinds = STEPS | (TRANSFORM_STEPS if differentiable else GRADIENT_STEPS)
    step = st.one_of(*[st.tuples(st.just(kind), kinds[kind]) for kind in kinds for _ in range(WEIGHTS.get(kind, 1))])
    # Without a lower bound lists are short. None has a fixed length: so they shrink to parts of themselves, without a bound.
    lengths = (0, max_instructions, 2 * max_instructions)
    steps = st.one_of(*[st.lists(step, min_size=n, max_size=2 * max_instructions + 1) for n in lengths])
    left_out = st.sets(st.sampled_from(sorted(kinds)), max_size=len(kinds) // 2)  # so that programs differ more
    drawn = st.tuples(leaf, st.lists(leaf, max_size=2), left_out, steps)
    return drawn.map(lambda parts: _program(max_instructions, differentiable, *parts))


def _program(most: int, differentiable: bool, first: Any, leaves: Any, left_out: set[str], steps: Any) -> Program:
    builder = Builder(differentiable)
    builder.add("leaf", *first[:2], True)
    for parts in leaves:
        builder.add("leaf", *parts)
    begin = len(builder.instructions)
    for kind, parts in steps:
        if kind not in left_out and len(builder.instructions) < begin + most:
            builder.add(kind, *parts)
    return Program(builder.instructions)


class Builder:
    """Makes instructions from drawn values, with the operands that the program has so far; None if nothing fits."""

    def __init__(self, differentiable: bool):
        self.differentiable = differentiable
        self.outline = Outline()
        self.instructions: list[Instruction] = []

    def add(self, kind: str, *parts: Any) -> None:
        if len(self.outline.registers) >= REGISTERS and kind in MAKING:
            return
        instruction = getattr(self, kind)(*parts)
        if instruction is not None:
            self.instructions.append(instruction)
            self.outline.perform(instruction)

    def chosen(self, k: int, fits: Callable[[Any], bool] = lambda x: True) -> int | None:
        """One of the registers that may be used, of a kind; None if there is none."""
        candidates = [n for n, x in enumerate(self.outline.registers) if x.is_usable and fits(x)]
        return candidates[k % len(candidates)] if candidates else None

    def leaf(self, values: tuple[float, ...], shape: tuple[int, ...], requires_grad: bool) -> Leaf:
        return Leaf(values[: math.prod(shape)], shape, requires_grad)

    def unary(self, name: str, k: int) -> Op | None:
        found = self.chosen(k, lambda x: name in REDUCING or _largest(x) < 4)
        return None if found is None else Op(name, (found,))

    def binary(self, name: str, i: int, k: int) -> Op | None:
        first = self.chosen(i, lambda x: _largest(x) < 100)
        if first is None:
            return None
        shape = self.outline.registers[first].index.shape
        second = self.chosen(k, lambda x: _largest(x) < 100 and _are_broadcastable(shape, x.index.shape))
        return None if second is None else Op(name, (first, second))

    def branch(self, c: int, names: tuple[str, str], k: int) -> Branch | None:
        condition, found = self.chosen(c, _is_clear), self.chosen(k, lambda x: _largest(x) < 4)
        return None if condition is None or found is None else Branch(condition, names, found)

    def scaled(self, k: int, by: int) -> Scaled | None:
        found, source = self.chosen(k, lambda x: _largest(x) < 100), self.chosen(by, lambda x: _largest(x) < 10)
        return None if found is None or source is None else Scaled(found, source)

    def halved(self, k: int, limit: float) -> Halved | None:
        found = self.chosen(k, lambda x: _is_between(_largest(x), limit))
        return None if found is None else Halved(found, limit)

    def transform(self, name: str, names: tuple[str, str], k: int) -> Transform | None:
        if "vmap" in name:
            names = (names[0], names[0])  # samples can't take different branches
        found = self.chosen(k, lambda x: _largest(x) < 4 and _is_clear(x))
        return None if found is None else Transform(name, names, found)

    def view(self, name: str, k: int) -> View | None:
        # one that is made in no_grad of what requires grad is for PyTorch a leaf and a part of the graph at once
        records = self.outline.records
        found = self.chosen(k, lambda x: VIEWS[name](x.index) is not False and (records or not x.requires_grad))
        return None if found is None else View(name, found)

    def detach(self, k: int) -> Detach | None:
        found = self.chosen(k)
        return None if found is None else Detach(found)

    def write(self, name: str, k: int, source: int | float | None) -> Write | None:
        registers = self.outline.registers
        if self.differentiable:
            found = self.chosen(k, lambda x: self.outline.keeps_gradients(Write("zero_", registers.index(x), None)))
            if found is None:
                return None
            k = found
        k %= len(registers)
        target = registers[k]
        if _largest(target) > 100:
            name = "zero_"
        if name == "zero_":
            source = None
        elif isinstance(source, int):
            shapes = ((), target.index.shape)
            source = self.chosen(source, lambda x: x.memory is not target.memory and x.index.shape in shapes)
            if source is None or _largest(registers[source]) > 100:
                return None
        write = Write(name, k, source)
        return None if self.differentiable and not self.outline.keeps_gradients(write) else write

    def mode(self, records: bool) -> Mode | None:
        return None if self.differentiable and records == self.outline.records else Mode(records)

    def hook(self, k: int, factor: float) -> Hook | None:
        fits = (lambda x: x.has_gradient and not x.is_leaf) if self.differentiable else (lambda x: True)
        found = self.chosen(k, fits)
        return None if found is None else Hook(found, 1.0 if self.differentiable else factor)

    def backward(self, k: int, retain: bool) -> Backward | None:
        found = self.chosen(k)
        return None if found is None else Backward(found, retain)

    def grad(self, k: int, wanted: int, retain: bool) -> Grad | None:
        root, leaf = self.chosen(k), self.chosen(wanted)
        return None if root is None or leaf is None else Grad(root, leaf, retain)

    def forget(self, k: int) -> Forget | None:
        found = self.chosen(k, lambda x: not x.is_view)
        return None if found is None else Forget(found)


def _largest(x: Any) -> float:
    return float(np.abs(x.array).max())


def _is_clear(x: Any) -> bool:
    """Whether small changes keep the signs of all elements."""
    return bool((np.abs(x.array) > 0.01).all())


def _is_between(largest: float, limit: float) -> bool:
    """Whether small changes keep the number of halvings."""
    return largest < 100 and (largest < limit or 0.02 < math.log2(largest / limit) % 1 < 0.98)


def _are_broadcastable(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(shape, other)
    except ValueError:
        return False
    return True
