"""A program as a value: a function of its leaves, its text, a run on any module."""

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._compat import PACKAGE
from .instructions import Backward, Forget, Grad, Instruction, Leaf
from .interpreter import Interpreter
from .outline import Outline
from .source import function_text, script_text


class Program:
    """``Program(instructions)`` can be called with tensors for its leaves that require grad: ``program(*program.leaves())``.

    It returns one vector: the elements of all tensors that it makes and that have right gradients (or of the leaves, if there
    are none). Tensors that depend on a leaf through detach() or no_grad are left out.
    """

    def __init__(self, instructions: Iterable[Instruction]):
        self.instructions = tuple(instructions)

    def __repr__(self) -> str:
        return "Program([\n" + "".join(f"    {instruction},\n" for instruction in self.instructions) + "])"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.instructions == other.instructions

    def __hash__(self) -> int:
        return hash(self.instructions)

    def __call__(self, *leaves: Any) -> Any:
        """ValueError for a wrong number of leaves or wrong shapes, and if the program itself asks for gradients."""
        wanted = self._differentiable_leaves()
        results = self.results()
        self._check(wanted, leaves)
        interpreter = Interpreter(sys.modules[type(leaves[0]).__module__.partition(".")[0]], leaves)
        interpreter.noted = None
        for instruction in self.instructions:
            interpreter.run_in_mode(instruction)
        tensors = [interpreter.tensors[k].reshape(-1) for k in results]
        return interpreter.module.cat(tensors)

    def _differentiable_leaves(self) -> list[Leaf]:
        return [leaf for leaf in self.instructions if isinstance(leaf, Leaf) and leaf.requires_grad]

    def _check(self, wanted: list[Leaf], leaves: tuple[Any, ...]) -> None:
        found, expected = [tuple(x.shape) for x in leaves], [leaf.shape for leaf in wanted]
        if found != expected:
            raise ValueError(f"the program expected leaves of shapes {expected}, got {found}")

    def leaves(self, module: Any = None) -> list[Any]:
        """New tensors of a module like torch (this package by default) for the leaves that require grad."""
        interpreter = Interpreter(sys.modules[PACKAGE] if module is None else module)
        for leaf in self._differentiable_leaves():
            interpreter.run(leaf)
        return interpreter.tensors

    def results(self) -> list[int]:
        """The numbers of the registers that a call returns: see above."""
        if any(isinstance(instruction, Backward | Grad | Forget) for instruction in self.instructions):
            raise ValueError("a program that asks for gradients is no function of its leaves: run() it")
        outline = self.outline()
        numbers = [k for k, x in enumerate(outline.registers) if x.has_gradient]
        made = [k for k in numbers if not outline.registers[k].is_leaf]
        if not numbers:
            raise ValueError("no tensor of the program has gradients: is there a leaf that requires grad?")
        return made or numbers

    def outline(self) -> Outline:
        """The outline of the program, without autograd."""
        outline = Outline()
        for instruction in self.instructions:
            outline.perform(instruction)
        return outline

    def run(self, module: Any) -> Interpreter:
        """Perform all instructions on a module like torch: the interpreter, with `tensors`, `noted` and `outcomes`."""
        interpreter = Interpreter(module)
        for instruction in self.instructions:
            interpreter.perform(instruction)
        return interpreter

    def text(self) -> str:
        """The program in Python: a function f of its leaves; a script, if it asks for gradients itself."""
        outline = self.outline()
        shapes = [np.shape(x.index) for x in outline.registers]
        if any(isinstance(instruction, Backward | Grad | Forget) for instruction in self.instructions):
            return script_text(self.instructions, shapes)
        return function_text(self.instructions, shapes, self.results())
