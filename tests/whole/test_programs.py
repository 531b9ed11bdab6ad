"""Random programs of operations, views, writes, modes and hooks: here, in the NumPy model, and in PyTorch if there is one.

After each instruction everything that can be seen is compared: values, versions, gradients, flags, errors. The machine runs
AUTOGRAD_CY_PROGRAMS examples (100 by default); a failing program is printed as a list that `run_program` takes.
"""

import os
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from programs.instructions import (
    BINARY,
    REDUCING,
    UNARY,
    VIEWS,
    WRITES,
    Backward,
    Detach,
    Forget,
    Grad,
    Hook,
    Leaf,
    Mode,
    Op,
    View,
    Write,
    program_text,
)  # fmt: skip
from programs.interpreter import Interpreter
from programs.model import ERRORS, Model

import autograd_cy as ag

try:
    import torch
except ImportError:
    torch = None

EXAMPLES = int(os.environ.get("AUTOGRAD_CY_PROGRAMS", "100"))
LIMIT = 12  # registers


class Comparison:
    """The same program in all backends."""

    def __init__(self, others=(ag, torch)):
        self.model = Model()
        self.backends = {module.__name__: Interpreter(module) for module in others if module is not None}
        self.program = []

    def perform(self, instruction):
        self.program.append(instruction)
        try:
            self.compare(instruction)
        except AssertionError as error:
            error.add_note("The program:\n" + program_text(self.program))
            raise

    def compare(self, instruction):
        first, *others = self.backends
        ours, _ = outcome = self.backends[first].perform(instruction)
        if ours is not None and "not recorded yet" in str(ours):
            self.program.pop()
            return
        outcomes = {first: outcome} | {name: self.backends[name].perform(instruction) for name in others}
        self.model.strictly = {key: ours is not None and is_error(ours, key) for key in self.model.strictly}
        expected, result = self.model.perform(instruction)
        for name, (error, found) in outcomes.items():
            if name == "torch" and self.model.in_doubt is not None and is_error(error, self.model.in_doubt):
                del self.backends[name]  # it refuses more than has to be refused; from here on it goes another way
                continue
            assert_same_error(name, error, expected)
            assert_near(name, found, result)
        self.observe()

    def observe(self):
        for name, backend in self.backends.items():
            assert len(backend.tensors) == len(self.model.registers)
            for register in range(len(backend.tensors)):
                found, expected = backend.observe(register), self.model.observe(register)
                if "error" in expected:
                    assert re.search(ERRORS[expected["error"]], found["error"])
                    continue
                assert found.keys() == expected.keys(), f"{name}, register {register}: {found}"
                for key in expected:
                    assert_near(f"{name}, register {register}, {key}", found[key], expected[key])
            assert_near(f"{name}, what hooks saw", backend.noted, self.model.noted)


def is_error(error, key):
    return error is not None and re.search(ERRORS[key], str(error)) is not None


def assert_same_error(name, error, expected):
    assert (error is None) == (expected is None), f"{name}: {error!r}, expected {expected}"
    assert expected is None or is_error(error, expected), f"{name}: {error!r}, expected {expected}"


def assert_near(what, found, expected):
    if isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), f"{what}: {found}, expected {expected}"
        for pair in zip(found, expected, strict=True):
            assert_near(what, *pair)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), what
    else:
        assert found == expected, f"{what}: {found}, expected {expected}"


def run_program(program, **options):
    """Run a program in all backends and compare; an error that all of them meet is no failure."""
    comparison = Comparison(**options)
    for instruction in program:
        comparison.perform(instruction)
    return comparison


number = st.sampled_from([-1.5, -0.5, 0.25, 0.75, 2.0])
pick = st.integers(0, 9999)
SHAPES = [(), (3,), (2, 2)]


class Programs(RuleBasedStateMachine):
    modules = (ag, torch)

    def __init__(self):
        super().__init__()
        self.comparison = Comparison(self.modules)
        self.model = self.comparison.model

    def perform(self, instruction):
        self.comparison.perform(instruction)

    def registers(self, fits=lambda x: True):
        """The registers that may be used, of a kind."""
        numbers = range(len(self.model.registers))
        return [k for k in numbers if self.model.is_usable(k) and fits(self.model.registers[k])]

    def chosen(self, k, fits=lambda x: True):
        """One of them, or None."""
        candidates = self.registers(fits)
        return candidates[k % len(candidates)] if candidates else None

    def has_room(self):
        return len(self.model.registers) < LIMIT

    @initialize(values=st.tuples(number, number, number), other=st.tuples(number, number, number, number))
    def begin(self, values, other):
        self.perform(Leaf(values, (3,), True))
        self.perform(Leaf(values[:1], (), True))
        self.perform(Leaf(other, (2, 2), False))

    @precondition(has_room)
    @rule(values=st.tuples(number, number, number, number), shape=st.sampled_from(SHAPES), requires_grad=st.booleans())
    def make_leaf(self, values, shape, requires_grad):
        self.perform(Leaf(values[: int(np.prod(shape))], shape, requires_grad))

    @precondition(has_room)
    @rule(name=st.sampled_from(UNARY + REDUCING), k=pick)
    def apply_to_one(self, name, k):
        k = self.chosen(k, lambda x: name in REDUCING or np.abs(x.array).max() < 4)
        if k is not None:
            self.perform(Op(name, (k,)))

    @precondition(has_room)
    @rule(name=st.sampled_from(BINARY), i=pick, k=pick)
    def apply_to_two(self, name, i, k):
        i = self.chosen(i, lambda x: np.abs(x.array).max() < 100)
        k = self.chosen(k, lambda x: np.abs(x.array).max() < 100 and are_broadcastable(x, self.model.registers[i]))
        if k is not None:
            self.perform(Op(name, (i, k)))

    @precondition(has_room)
    @rule(name=st.sampled_from(sorted(VIEWS)), k=pick)
    def take_view(self, name, k):
        # one that is made in no_grad of what requires grad is for PyTorch a leaf and a part of the graph at once
        k = self.chosen(k, lambda x: VIEWS[name](x.index) is not False and (self.model.records or not x.requires_grad))
        if k is not None:
            self.perform(View(name, k))

    @precondition(has_room)
    @rule(k=pick)
    def detach(self, k):
        self.perform(Detach(self.chosen(k)))

    @rule(name=st.sampled_from(WRITES), k=pick, source=st.one_of(number, pick))
    def write(self, name, k, source):
        k %= len(self.model.registers)
        target = self.model.registers[k]
        if np.abs(target.array).max() > 100:
            name = "zero_"
        if name == "zero_":
            source = None
        elif isinstance(source, int):
            source = self.chosen(
                source, lambda x: x.memory is not target.memory and x.array.shape in ((), target.array.shape))
            if source is None or np.abs(self.model.registers[source].array).max() > 100:
                return
        self.perform(Write(name, k, source))

    @rule(records=st.booleans())
    def switch(self, records):
        self.perform(Mode(records))

    @rule(k=pick, factor=number)
    def hook(self, k, factor):
        self.perform(Hook(self.chosen(k), factor))

    @rule(k=pick, retain=st.booleans())
    def run_backward(self, k, retain):
        self.perform(Backward(self.chosen(k), retain))

    @rule(k=pick, wanted=pick, retain=st.booleans())
    def take_grad(self, k, wanted, retain):
        self.perform(Grad(self.chosen(k), self.chosen(wanted), retain))

    @rule(k=pick)
    def forget(self, k):
        self.perform(Forget(self.chosen(k, lambda x: not x.is_view)))


def are_broadcastable(x, y):
    try:
        np.broadcast_shapes(x.array.shape, y.array.shape)
    except ValueError:
        return False
    return True


class TorchPrograms(Programs):
    """PyTorch against the model, which is to be right also about what this package does not do."""

    modules = (torch,)


def check(machine, examples):
    run_state_machine_as_test(machine, settings=settings(
        max_examples=examples, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)))


def test_random_programs():
    check(Programs, EXAMPLES)


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_the_model_gives_what_torch_gives():
    check(TorchPrograms, max(EXAMPLES // 4, 1))


PROGRAMS = {
    "everything": [
        Leaf((1.0, 2.0, 3.0), (3,), True), Op("tanh", (0,)), View("tail", 1), Op("mul", (2, 2)), Detach(3), Hook(1, 2.0),
        Mode(False), Write("mul_", 4, 2.0), Mode(True), Op("sum", (3,)), Hook(5, 0.5), Backward(5, True), Grad(5, 1, False),
        Backward(5, False), Forget(0), Write("zero_", 0, None), View("first", 0), Write("add_", 6, 1.0),
    ],
    "stale": [
        Leaf((1.0, 2.0), (2,), True), Op("exp", (0,)), Mode(False), Write("add_", 1, 1.0), Mode(True), Backward(1, False),
    ],
    "another part": [
        Leaf((1.0, 2.0), (2,), True), Leaf((3.0, 4.0), (2,), False), View("first", 1), View("tail", 1), Op("mul", (0, 3)),
        Write("add_", 2, 1.0), Op("sum", (4,)), Backward(5, False),
    ],
    "twice through a write": [
        Leaf((1.0,), (), True), Leaf((2.0, 3.0, 4.0), (3,), False), View("tail", 1), Op("mul", (0, 0)), Hook(3, 2.0),
        Write("add_", 2, 3), Backward(1, False), Backward(1, False),
    ],
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program):
    run_program(PROGRAMS[program])


def test_a_difference_is_reported_with_the_program(monkeypatch):
    monkeypatch.setattr(Interpreter, "seed", lambda self, root: root.detach() * 0 + 3)
    with pytest.raises(AssertionError) as caught:
        run_program([Leaf((1.0,), (), True), Op("sin", (0,)), Backward(1, False)])
    assert "Backward(root=1, retain=False)" in "".join(caught.value.__notes__)
