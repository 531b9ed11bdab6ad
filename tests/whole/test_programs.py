"""Random programs of operations, views, writes, modes and hooks: here, in the NumPy model, and in PyTorch if there is one.

After each instruction everything that can be seen is compared: values, versions, gradients, flags, errors.
AUTOGRAD_CY_PROGRAMS examples are run (100 by default); a failing program is printed as one that `run_program` takes.
"""

import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from program_model import Model
from program_operations import ERRORS

import autograd_cy as ag
from autograd_cy.testing._programs import (
    Backward,
    Detach,
    Forget,
    Grad,
    Hook,
    Interpreter,
    Leaf,
    Mode,
    Op,
    Outline,
    Program,
    View,
    Write,
)  # fmt: skip
from autograd_cy.testing.strategies import programs

try:
    import torch
except ImportError:
    torch = None

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # of PyTorch's transforms
EXAMPLES = int(os.environ.get("AUTOGRAD_CY_PROGRAMS", "100"))
ANY = programs(25, differentiable=False)


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
            error.add_note(f"The program:\n{Program(self.program)}")
            raise

    def compare(self, instruction):
        first, *others = self.backends
        ours, _ = outcome = self.backends[first].perform(instruction)
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


def many(examples):
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


@given(ANY)
@many(EXAMPLES)
def test_random_programs(program):
    run_program(program.instructions)


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@given(ANY)
@many(max(EXAMPLES // 4, 1))
def test_the_model_gives_what_torch_gives(program):
    """The model is to be right also about what this package does not do."""
    run_program(program.instructions, others=(torch,))


@given(ANY)
@many(max(EXAMPLES // 4, 1))
def test_programs_are_drawn_by_what_the_model_knows(program):
    outline, model = Outline(), Model()
    for instruction in program.instructions:
        outline.perform(instruction)
        model.perform(instruction)
        for k, x in enumerate(model.registers):
            found = outline.registers[k]
            assert found.array.tolist() == x.array.tolist()
            assert (found.requires_grad, found.is_usable) == (x.requires_grad, model.is_usable(k))


@given(programs(25))
@many(max(EXAMPLES // 4, 1))
def test_differentiable_programs_meet_no_error_and_have_the_gradients_of_their_values(program):
    comparison = run_program(program.instructions)
    assert [error for error, _ in comparison.backends["autograd_cy"].outcomes if error is not None] == []
    assert ag.autograd.gradcheck(
        program, program.leaves(), check_forward_ad=True, check_undefined_grad=False, atol=1e-4, rtol=1e-4)


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
    "not needed": [
        Leaf((1.0, 2.0), (2,), True), Leaf((3.0, 4.0), (2,), True), Op("mul", (0, 0)), Op("mul", (1, 2)),
        Write("add_", 2, 1.0), Op("tanh", (3,)), Grad(4, 0, False),
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
