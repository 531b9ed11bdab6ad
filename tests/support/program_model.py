"""A program in NumPy alone: a model of what autograd does, small enough to be seen right.

Memory is a flat array; a register is an array of positions in it, so that views are indexing. History is a functional
program: a Value for everything that was ever computed, a write included, with a matrix for each input, its Jacobian. A
tensor's history is that of its base at its positions (`where`).
"""

import heapq
import itertools
import math
from dataclasses import dataclass, field
from functools import singledispatchmethod

import numpy as np
from program_operations import OPERATIONS

from autograd_cy.testing import _programs
from autograd_cy.testing._programs import VIEWS, Backward, Detach, Forget, Grad, Hook, Leaf, Mode, Op, View, Write
from autograd_cy.testing._programs.outline import DERIVATIVES, chosen, times_of_halving


class Refused(Exception):
    """An error that the program must meet, by its key in ERRORS."""


class Memory:
    def __init__(self, values):
        self.values = np.array(values, dtype=float).ravel()
        self.writes = []  # the positions of each

    @property
    def version(self):
        return len(self.writes)


@dataclass
class Saved:
    memory: Memory
    version: int
    positions: set
    users: list = field(default_factory=list)  # the inputs whose gradients need it

    def is_stale(self, strictly):
        """Whether it was written since; strictly: whether anything was in its memory."""
        since = self.memory.writes[self.version :]
        return any(strictly or written & self.positions for written in since)


@dataclass(eq=False)
class Value:
    inputs: list  # (Value, Jacobian)
    number: float
    saved: list = field(default_factory=list)
    hooks: list = field(default_factory=list)  # (notes, factor)
    leaf: "Register | None" = None
    freed: bool = False
    writes_a_part: bool = False

    def __lt__(self, other):
        return self.number > other.number  # of the queue


@dataclass(eq=False)
class Base:
    """The history of what a differentiable view and its siblings are views of."""

    size: int
    value: Value | None = None


@dataclass(eq=False)
class Register:
    memory: Memory
    index: np.ndarray  # positions in the memory
    base: Base
    where: np.ndarray  # positions in the base
    is_view: bool = False
    made_in_no_grad: bool = False
    value: Value | None = None  # of a view
    seen: int = 0  # the version at which the view's value was right
    grad: np.ndarray | None = None

    @property
    def array(self):
        return self.memory.values[self.index]

    @property
    def requires_grad(self):
        return self.base.value is not None or self.value is not None


class Model:
    def __init__(self):
        self.registers = []
        self.records = True
        self.noted = []
        self.numbers = itertools.count()
        # Implementations may differ in whether these are errors: a write to a part of the memory that no saved tensor
        # overlaps, a write to a saved tensor that no requested gradient needs, and a second backward through a write to a
        # view that saved nothing. `in_doubt`: the last backward met such a case.
        self.strictly = {"stale": False, "freed": False}
        self.in_doubt = None

    def perform(self, instruction):
        """Run one instruction: None and what it computed, or the key of the error."""
        try:
            return None, self.run(instruction)
        except Refused as error:
            return str(error), None

    def observe(self, register):
        x = self.registers[register]
        try:
            value = self.value_of(x)
        except Refused as error:
            return {"error": str(error)}
        return {
            "values": x.array.tolist(), "requires_grad": x.requires_grad, "version": x.memory.version,
            "is_leaf": value is None or value.leaf is not None, "grad": None if x.grad is None else x.grad.tolist(),
        }  # fmt: skip

    def is_usable(self, register):
        """Whether a register has a history: not so a view made in no_grad of what now requires grad."""
        x = self.registers[register]
        return not (x.made_in_no_grad and x.requires_grad)

    # history

    def new_value(self, inputs, saved=()):
        return Value([(x, m) for x, m in inputs if x is not None], next(self.numbers), list(saved))

    def gathered(self, source, size, positions):
        """The elements of a value at some positions."""
        picks = np.zeros((positions.size, size))
        picks[np.arange(positions.size), positions.ravel()] = 1
        return self.new_value([(source, picks)])

    def value_of(self, x):
        """The current value of a register in its history, None without one. That of a view is made anew after a write."""
        if not x.is_view:
            return x.base.value
        if x.base.value is not None and x.seen != x.memory.version:
            if x.made_in_no_grad:
                raise Refused("stale no_grad view")
            x.value = self.gathered(x.base.value, x.base.size, x.where)
            x.seen = x.memory.version
        return x.value

    def compute(self, name, operands):
        """The result of an operation, and its inputs and what it saves for `new_value`."""
        function, derivatives, saves = OPERATIONS[name]
        arrays = [np.asarray(x.array if isinstance(x, Register) else x, dtype=float) for x in operands]
        result = np.asarray(function(*arrays))
        named = dict(zip("ab", operands, strict=False))
        inputs, users = [], {}
        for k, x in enumerate(operands):
            value = self.value_of(x) if isinstance(x, Register) and self.records and x.requires_grad else None
            if value is not None:
                inputs.append((value, jacobian(arrays[k], result, derivatives[k](*arrays, result))))
                users.setdefault(saves[k], []).append(value)
        return result, inputs, [(named.get(name), of) for name, of in users.items() if name], named

    # instructions

    @singledispatchmethod
    def run(self, instruction):
        raise TypeError(f"what is {instruction}?")

    def enter(self, array, value=None):
        memory, index = Memory(array), np.arange(np.size(array)).reshape(np.shape(array))
        self.registers.append(Register(memory, index, Base(index.size, value), index))
        return self.registers[-1]

    @run.register
    def _(self, leaf: Leaf):
        register = self.enter(np.reshape(leaf.values, leaf.shape))
        if leaf.requires_grad:
            register.base.value = Value([], math.inf, leaf=register)

    @run.register
    def _(self, op: Op):
        result, inputs, saved, _ = self.compute(op.name, [self.registers[k] for k in op.operands])
        y = self.enter(result)
        if inputs:
            y.base.value = self.new_value(inputs, [save(y if x is None else x, users) for x, users in saved])

    @run.register
    def _(self, branch: _programs.Branch):
        self.run(Op(chosen(branch.names, self.registers[branch.condition].array), (branch.operand,)))

    @run.register
    def _(self, scaled: _programs.Scaled):
        factor = self.registers[scaled.source].array.sum()
        self.enter_elementwise(self.registers[scaled.operand], lambda a: a * factor, lambda a: factor)

    @run.register
    def _(self, halved: _programs.Halved):
        x = self.registers[halved.operand]
        factor = 0.5 ** times_of_halving(x.array, halved.limit)
        self.enter_elementwise(x, lambda a: a * factor, lambda a: factor)

    @run.register
    def _(self, transform: _programs.Transform):
        """It saves what later writes leave alone: those of programs that have a gradient."""
        x, order = self.registers[transform.operand], _programs.TRANSFORMS[transform.name][1]
        self.enter_elementwise(x, *DERIVATIVES[chosen(transform.names, x.array)][order : order + 2])

    def enter_elementwise(self, x, function, slope):
        """The result of a function of each element, which saves numbers of its own."""
        source = self.value_of(x) if self.records and x.requires_grad else None
        result = np.asarray(function(x.array))
        inputs = [(source, jacobian(x.array, result, slope(x.array)))] if source is not None else []
        self.enter(result, self.new_value(inputs, [kept()]) if inputs else None)

    @run.register
    def _(self, view: View):
        x = self.registers[view.source]
        source = self.value_of(x)
        index, where = VIEWS[view.name](x.index), VIEWS[view.name](x.where)
        y = Register(x.memory, index, x.base, where, is_view=True, seen=x.memory.version)
        y.made_in_no_grad = x.made_in_no_grad or not self.records
        if source is not None and self.records:
            y.value = self.gathered(source, x.index.size, VIEWS[view.name](np.arange(x.index.size).reshape(x.index.shape)))
        self.registers.append(y)

    @run.register
    def _(self, detach: Detach):
        x = self.registers[detach.source]
        own = np.arange(x.index.size).reshape(x.index.shape)
        self.registers.append(Register(x.memory, x.index, Base(own.size), own))

    @run.register
    def _(self, write: Write):
        x = self.registers[write.target]
        source = self.registers[write.source] if type(write.source) is int else write.source
        is_recorded = self.records and (x.requires_grad or (isinstance(source, Register) and source.requires_grad))
        if is_recorded:
            self.check_write(x)
        operands = [x] if source is None else [x, source]
        result, inputs, saved, _ = self.compute(write.name[:-1], operands)
        if is_recorded:
            kinds = [save(s, users) if s is source and isinstance(s, Register) else kept() for s, users in saved]
            self.record_write(x, inputs, kinds)
        x.memory.values[x.index] = result
        x.memory.writes.append(set(x.index.ravel().tolist()))
        if is_recorded and x.is_view:
            x.value, x.seen = self.gathered(x.base.value, x.base.size, x.where), x.memory.version

    def check_write(self, x):
        if x.is_view:
            if x.made_in_no_grad:
                raise Refused("no_grad view")
            if x.base.value is not None and x.base.value.leaf is not None:
                raise Refused("view of leaf")
        elif x.base.value is not None and x.base.value.leaf is not None:
            raise Refused("leaf")

    def record_write(self, x, inputs, saved):
        """The base's value becomes what it was outside the view, and inside what is written."""
        old, current = x.base.value, self.value_of(x)
        if not x.is_view:
            x.base.value = self.new_value(inputs, saved)
            return
        if old is not None:  # the view's gradient goes to the base as it was, past the view
            fresh = self.gathered(old, x.base.size, x.where)
            inputs = [(fresh if value is current else value, m) for value, m in inputs]
            for kept_one in saved:
                kept_one.users = [fresh if value is current else value for value in kept_one.users]
        written = self.new_value(inputs, saved)
        outside = np.eye(x.base.size)
        outside[x.where.ravel()] = 0
        place = np.zeros((x.base.size, x.where.size))
        place[x.where.ravel(), np.arange(x.where.size)] = 1
        x.base.value = self.new_value([(old, outside), (written, place)])
        x.base.value.writes_a_part = True

    @run.register
    def _(self, mode: Mode):
        self.records = mode.records

    @run.register
    def _(self, hook: Hook):
        x = self.registers[hook.target]
        if not x.requires_grad:
            raise Refused("hook")
        notes = []
        self.value_of(x).hooks.append((notes, hook.factor, x.index.shape))
        self.noted.append(notes)

    @run.register
    def _(self, backward: Backward):
        self.walk(self.registers[backward.root], None, backward.retain)

    @run.register
    def _(self, grad: Grad):
        wanted = self.registers[grad.wanted]
        if not wanted.requires_grad:
            raise Refused("no grad" if not self.registers[grad.root].requires_grad else "wanted")
        return self.walk(self.registers[grad.root], wanted, grad.retain)

    @run.register
    def _(self, forget: Forget):
        self.registers[forget.target].grad = None

    # backward

    def walk(self, root, wanted, retain):
        """Hand the root's gradient down, the latest value first, all that it leads to or what leads to `wanted`."""
        self.in_doubt = None
        if not root.requires_grad:
            raise Refused("no grad")
        start, goal = self.value_of(root), wanted and self.value_of(wanted)
        needed = below(start) if goal is None else leading_to(start, goal)
        incoming = {id(value): 0 for value in needed}
        for value in needed:
            for x, _ in value.inputs:
                if id(x) in incoming and value is not goal:
                    incoming[id(x)] += 1
        gradients, ready = {id(start): np.arange(1, root.index.size + 1) / 4}, [start]
        if id(start) not in incoming:
            hooked(start, gradients[id(start)])
            raise Refused("unused")
        while ready:
            value = heapq.heappop(ready)
            g = hooked(value, gradients.pop(id(value)))
            if value is goal:
                return g.reshape(wanted.index.shape).tolist()
            self.finish(value, g, retain, incoming)
            for x, matrix in value.inputs:
                if id(x) in incoming:
                    gradients[id(x)] = gradients.get(id(x), 0) + matrix.T @ g
                    incoming[id(x)] -= 1
                    if incoming[id(x)] == 0:
                        heapq.heappush(ready, x)
        return None

    def finish(self, value, g, retain, needed):
        """What running a value's node does beside handing gradients on, those of what is needed."""
        if value.freed and (value.saved or (value.writes_a_part and self.strictly["freed"])):
            raise Refused("freed")
        read = [saved for saved in value.saved if any(id(x) in needed for x in saved.users)]
        if any(saved.is_stale(self.strictly["stale"]) for saved in read):
            raise Refused("stale")
        if value.freed and value.writes_a_part:
            self.in_doubt = "freed"
        if any(saved.is_stale(True) for saved in value.saved):
            self.in_doubt = "stale"
        value.freed = not retain
        if value.leaf is not None:
            x = value.leaf
            x.grad = g.reshape(x.index.shape) + (0 if x.grad is None else x.grad)


def kept():
    """What a write saves beside its source: a copy of what was there, a number, its result. A later backward needs it."""
    return Saved(Memory([]), 0, set())


def save(x, users):
    return Saved(x.memory, x.memory.version, set(x.index.ravel().tolist()), users)


def jacobian(operand, result, derivative):
    """The matrix of an elementwise operation or reduction for one operand, from its derivative at each element."""
    shape = np.broadcast_shapes(operand.shape, result.shape)
    rows, columns = (np.broadcast_to(np.arange(x.size).reshape(x.shape), shape).ravel() for x in (result, operand))
    matrix = np.zeros((result.size, operand.size))
    matrix[rows, columns] = np.broadcast_to(derivative, shape).ravel()
    return matrix


def hooked(value, g):
    for notes, factor, shape in value.hooks:
        notes.append(g.reshape(shape).tolist())
        g = g * factor
    return g


def below(start):
    """All values that lead to a gradient of this one."""
    found, pending = {id(start): start}, [start]
    while pending:
        for x, _ in pending.pop().inputs:
            if id(x) not in found:
                found[id(x)] = x
                pending.append(x)
    return list(found.values())


def leading_to(start, goal):
    """Those of them over which the gradient of `goal` comes."""
    every = below(start)
    needed = {id(goal)} & {id(x) for x in every}
    for value in sorted(every, key=lambda value: value.number):
        if any(id(x) in needed for x, _ in value.inputs):
            needed.add(id(value))
    return [value for value in every if id(value) in needed]
