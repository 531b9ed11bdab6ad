"""An outline of a program without autograd: values, shared memory, and what is recorded.

It serves to draw valid programs, and tells which of a program's tensors have right gradients. A tensor is hidden if its
value depends on a leaf in a way that is not recorded (detach(), no_grad).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

import numpy as np

from .instructions import (
    TRANSFORMS,
    VIEWS,
    Branch,
    Detach,
    Halved,
    Instruction,
    Leaf,
    Mode,
    Op,
    Scaled,
    Transform,
    View,
    Write,
)  # fmt: skip

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "exp": np.exp,
    "sin": np.sin,
    "sum": np.sum,
    "mean": np.mean,
    "copy": lambda a, b: b + 0 * a,
    "zero": lambda a: 0 * a,
}
# Of a function the value and three derivatives.
_sigmoid, _tanh = FUNCTIONS["sigmoid"], np.tanh
DERIVATIVES: dict[str, list[Callable[..., Any]]] = {
    "tanh": [
        _tanh, lambda a: 1 - _tanh(a) ** 2, lambda a: -2 * _tanh(a) * (1 - _tanh(a) ** 2),
        lambda a: (1 - _tanh(a) ** 2) * (6 * _tanh(a) ** 2 - 2),
    ],
    "sigmoid": [
        _sigmoid, lambda a: _sigmoid(a) * _sigmoid(-a), lambda a: _sigmoid(a) * _sigmoid(-a) * (1 - 2 * _sigmoid(a)),
        lambda a: _sigmoid(a) * _sigmoid(-a) * (1 - 6 * _sigmoid(a) * _sigmoid(-a)),
    ],
    "sin": [np.sin, np.cos, lambda a: -np.sin(a), lambda a: -np.cos(a)],
    "exp": [np.exp] * 4,
}  # fmt: skip
SAVING_OPERANDS, SAVING_RESULT = ("mul", "sin"), ("tanh", "sigmoid", "exp")


@dataclass(eq=False)
class Memory:
    values: np.ndarray[Any, Any]  # flat
    is_saved: bool = False  # for a backward, or a part of it
    histories: list["History"] = field(default_factory=list)


@dataclass(eq=False)
class History:
    """The history that a tensor and its views share; detach() begins another one in the same memory."""

    is_recorded: bool = False  # it requires grad
    is_leaf: bool = False  # that requires grad
    depends: bool = False  # its value, on such leaves
    is_hidden: bool = False


@dataclass(eq=False)
class Register:
    memory: Memory
    index: np.ndarray[Any, Any]  # positions in the memory
    history: History
    is_view: bool = False
    made_in_no_grad: bool = False  # a view
    made_before_history: bool = False  # a view of what required no grad

    @property
    def array(self) -> np.ndarray[Any, Any]:
        return self.memory.values[self.index]

    @property
    def requires_grad(self) -> bool:
        return self.history.is_recorded

    @property
    def is_leaf(self) -> bool:
        """Whether it is a leaf that requires grad: its views are not."""
        return self.history.is_leaf and not self.is_view

    @property
    def is_usable(self) -> bool:
        """Not a view that was made in no_grad of what now requires grad: to use it is an error."""
        return not (self.made_in_no_grad and self.requires_grad)

    @property
    def has_gradient(self) -> bool:
        """Whether backward from it gives the derivatives of its value."""
        return self.history.depends and not self.history.is_hidden and self.is_usable


def chosen(names: tuple[str, str], condition: Any) -> str:
    """The operation that a branch takes."""
    return names[0 if bool((condition > 0).all()) else 1]


def times_of_halving(values: Any, limit: float) -> int:
    """How often elements are halved until none exceeds the limit; at least once."""
    times = 1
    while (np.abs(values) / 2**times > limit).any():
        times += 1
    return times


class Outline:
    def __init__(self) -> None:
        self.registers: list[Register] = []
        self.records = True

    def perform(self, instruction: Instruction) -> None:
        self.run(instruction)

    def is_recorded(self, write: Write) -> bool:
        return self.records and any(x.requires_grad for x in self.operands(write))

    def is_refused(self, write: Write) -> bool:
        """Whether a write is an error."""
        x = self.registers[write.target]
        return self.is_recorded(write) and ((x.is_view and x.made_in_no_grad) or x.history.is_leaf)

    def keeps_gradients(self, write: Write) -> bool:
        """Whether a write is valid, now and in backward, and changes neither leaves nor detached views of them."""
        target, *sources = self.operands(write)
        histories = target.memory.histories
        return not (
            self.is_refused(write)
            or not target.is_usable
            or (target.made_before_history and target.requires_grad)  # PyTorch refuses it, unless it was used since
            or target.memory.is_saved
            or any(history.is_leaf for history in histories)
            or (len(histories) > 1 and any(x.depends for x in [*histories, *[x.history for x in sources]]))
        )

    def operands(self, write: Write) -> list[Register]:
        return [self.registers[k] for k in (write.target, write.source) if type(k) is int]

    @singledispatchmethod
    def run(self, instruction: Any) -> None:
        """Instructions that change no value: nothing."""

    def enter(self, array: Any, history: History) -> None:
        memory = Memory(np.array(array, dtype=float).ravel(), histories=[history])
        self.registers.append(Register(memory, np.arange(np.size(array)).reshape(np.shape(array)), history))

    @run.register
    def _(self, leaf: Leaf) -> None:
        flag = leaf.requires_grad
        self.enter(np.reshape(leaf.values, leaf.shape), History(is_recorded=flag, is_leaf=flag, depends=flag))

    @run.register
    def _(self, op: Op) -> None:
        operands = [self.registers[k] for k in op.operands]
        recorded = self.records and any(x.requires_grad for x in operands)
        self.enter(FUNCTIONS[op.name](*[x.array for x in operands]), self.history_of(operands, recorded))
        if recorded:
            for x in operands if op.name in SAVING_OPERANDS else self.registers[-1:] if op.name in SAVING_RESULT else []:
                x.memory.is_saved = True

    def history_of(self, operands: list[Register], recorded: bool) -> History:
        depends = any(x.history.depends for x in operands)
        return History(recorded, False, depends, depends and (not recorded or any(x.history.is_hidden for x in operands)))

    @run.register
    def _(self, view: View) -> None:
        x = self.registers[view.source]
        index = np.asarray(VIEWS[view.name](x.index))
        in_no_grad = x.made_in_no_grad or not self.records
        self.registers.append(Register(x.memory, index, x.history, True, in_no_grad, not x.history.is_recorded))

    @run.register
    def _(self, detach: Detach) -> None:
        x = self.registers[detach.source]
        history = History(depends=x.history.depends, is_hidden=x.history.depends)
        x.memory.histories.append(history)
        self.registers.append(Register(x.memory, x.index, history))

    @run.register
    def _(self, write: Write) -> None:
        if self.is_refused(write):
            return
        operands, recorded = self.operands(write), self.is_recorded(write)
        x, *sources = operands
        values = [s.array for s in sources] if type(write.source) is not float else [np.array(write.source)]
        x.memory.values[x.index] = FUNCTIONS[write.name.removesuffix("_")](x.array, *values)
        after = self.history_of(operands, recorded)
        for history in x.memory.histories:
            history.depends |= after.depends
            history.is_hidden |= after.is_hidden or (history is not x.history and history.depends)
        x.history.is_recorded |= recorded
        if recorded and write.name == "mul_":
            for source in sources:
                source.memory.is_saved = True

    @run.register
    def _(self, branch: Branch) -> None:
        self.run(Op(chosen(branch.names, self.registers[branch.condition].array), (branch.operand,)))

    @run.register
    def _(self, scaled: Scaled) -> None:
        x, source = self.registers[scaled.operand], self.registers[scaled.source]
        history = self.history_of([x, source], self.records and x.requires_grad)
        history.is_hidden |= source.history.depends
        self.enter(x.array * source.array.sum(), history)

    @run.register
    def _(self, halved: Halved) -> None:
        x = self.registers[halved.operand]
        values = x.array * 0.5 ** times_of_halving(x.array, halved.limit)
        self.enter(values, self.history_of([x], self.records and x.requires_grad))

    @run.register
    def _(self, transform: Transform) -> None:
        x = self.registers[transform.operand]
        name, order = chosen(transform.names, x.array), TRANSFORMS[transform.name][1]
        self.enter(DERIVATIVES[name][order](x.array), self.history_of([x], self.records and x.requires_grad))
        x.memory.is_saved = self.registers[-1].memory.is_saved = True

    @run.register
    def _(self, mode: Mode) -> None:
        self.records = mode.records
