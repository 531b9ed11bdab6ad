"""A program as Python source, for people to read, paste and change."""

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatchmethod
from typing import Any

import numpy as np

from .instructions import (
    TRANSFORMS,
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
    Scaled,
    Transform,
    View,
    Write,
)  # fmt: skip

IMPORT = "import autograd_cy as torch\n\n"
VIEW_TEXTS = {"first": "x{}[0]", "tail": "x{}[1:]", "every second": "x{}[::2]", "transposed": "x{}.T", "deeper": "x{}[None]"}


def function_text(instructions: Iterable[Instruction], shapes: Sequence[tuple[int, ...]], results: Sequence[int]) -> str:
    """Source that defines f, a function of the leaves that require grad."""
    writer = Writer(shapes, is_function=True)
    lines = list(writer.lines(instructions))
    names = ", ".join(f"x{k}" for k in results) + ("," if len(results) == 1 else "")
    lines.append(f"return torch.cat([x.reshape(-1) for x in ({names})])")
    head = f"def f({', '.join(f'x{k}' for k in writer.parameters)}):"
    return "\n".join([IMPORT, head, *(f"    {line}" for line in lines)])


def script_text(instructions: Iterable[Instruction], shapes: Sequence[tuple[int, ...]]) -> str:
    return "\n".join([IMPORT.rstrip("\n"), *Writer(shapes, is_function=False).lines(instructions)])


class Writer:
    def __init__(self, shapes: Sequence[tuple[int, ...]], is_function: bool):
        self.shapes = shapes
        self.is_function = is_function
        self.parameters: list[int] = []
        self.count = 0  # registers so far
        self.records = True

    def lines(self, instructions: Iterable[Instruction]) -> Iterator[str]:
        within = False
        for instruction in instructions:
            if isinstance(instruction, Mode):
                self.records = instruction.records
                continue
            for line in self.write(instruction):
                if not self.records and not within:
                    yield "with torch.no_grad():"
                within = not self.records
                yield f"    {line}" if within else line

    def new(self, value: str) -> Iterator[str]:
        yield f"x{self.count} = {value}"
        self.count += 1

    def seed(self, root: int) -> str:
        shape = self.shapes[root]
        return tensor_text((np.arange(1, np.prod(shape, dtype=int) + 1) / 4).reshape(shape).tolist())

    @singledispatchmethod
    def write(self, instruction: Any) -> Iterator[str]:
        raise TypeError(f"what is {instruction}?")

    @write.register
    def _(self, leaf: Leaf) -> Iterator[str]:
        if leaf.requires_grad and self.is_function:
            self.parameters.append(self.count)
            self.count += 1
            return
        flag = ", requires_grad=True" if leaf.requires_grad else ""
        yield from self.new(tensor_text(np.reshape(leaf.values, leaf.shape).tolist(), flag))

    @write.register
    def _(self, op: Op) -> Iterator[str]:
        yield from self.new(f"torch.{op.name}({', '.join(f'x{k}' for k in op.operands)})")

    @write.register
    def _(self, view: View) -> Iterator[str]:
        yield from self.new(VIEW_TEXTS[view.name].format(view.source))

    @write.register
    def _(self, detach: Detach) -> Iterator[str]:
        yield from self.new(f"x{detach.source}.detach()")

    @write.register
    def _(self, write: Write) -> Iterator[str]:
        source: Any = "" if write.source is None else write.source
        if type(source) is int:
            source = f"x{source}"
        elif write.name == "copy_":
            source = tensor_text(source)
        yield f"x{write.target}.{write.name}({source})"

    @write.register
    def _(self, branch: Branch) -> Iterator[str]:
        first, second = [f"torch.{name}(x{branch.operand})" for name in branch.names]
        yield from self.new(f"{first} if (x{branch.condition} > 0).all() else {second}")

    @write.register
    def _(self, scaled: Scaled) -> Iterator[str]:
        yield from self.new(f"x{scaled.operand} * x{scaled.source}.sum().item()")

    @write.register
    def _(self, halved: Halved) -> Iterator[str]:
        x = f"x{self.count}"
        yield from self.new(f"x{halved.operand} * 0.5")
        yield f"while ({x}.abs() > {halved.limit}).any():"
        yield f"    {x} = {x} * 0.5"

    @write.register
    def _(self, transform: Transform) -> Iterator[str]:
        first, second = [f"torch.{name}(z)" for name in transform.names]
        yield f"x = x{transform.operand}"
        yield f"f = lambda z: {first if first == second else f'{first} if (z > 0).all() else {second}'}"
        yield from self.new(TRANSFORMS[transform.name][0])

    @write.register
    def _(self, hook: Hook) -> Iterator[str]:
        if not self.is_function:
            yield f"x{hook.target}.register_hook(lambda g: g * {hook.factor})"
            return
        # its leaves may require no grad, and backward() may leave gradients undefined
        yield f"if x{hook.target}.requires_grad:"
        yield f"    x{hook.target}.register_hook(lambda g: None if g is None else g * {hook.factor})"

    @write.register
    def _(self, backward: Backward) -> Iterator[str]:
        yield f"x{backward.root}.backward({self.seed(backward.root)}, retain_graph={backward.retain})"

    @write.register
    def _(self, grad: Grad) -> Iterator[str]:
        seed = self.seed(grad.root)
        yield f"print(torch.autograd.grad(x{grad.root}, x{grad.wanted}, {seed}, retain_graph={grad.retain}))"

    @write.register
    def _(self, forget: Forget) -> Iterator[str]:
        yield f"x{forget.target}.grad = None"


def tensor_text(values: Any, flag: str = "") -> str:
    return f"torch.tensor({values}, dtype=torch.float64{flag})"
