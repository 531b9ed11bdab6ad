"""The override protocol: operations called with what defines __torch_function__."""

from typing import ClassVar

import pytest
from common import IS_TORCH, leaf, ours

import autograd_cy as torch


class Text:
    """Stands for a tensor by name; operations make longer names."""

    def __init__(self, name):
        self.name = name

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        words = [a.name if isinstance(a, Text) else type(a).__name__ for a in args if not isinstance(a, (list, tuple))]
        words += [a.name for group in args if isinstance(group, (list, tuple)) for a in group if isinstance(a, Text)]
        words += [f"{key}={value}" for key, value in (kwargs or {}).items() if value is not None]
        return f"{function.__name__}({', '.join(words)})"


class Silent:
    """Leaves every call to others."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return NotImplemented


t, a = torch.ones(2), Text("a")

CALLS = {
    "a unary function": (lambda: torch.exp(a), "exp(a)"),
    "a binary function": (lambda: torch.add(t, a), "add(Tensor, a)"),
    "a method": (lambda: t.add(a), "add(Tensor, a)"),
    "an option": (lambda: torch.sum(a, dim=0), "sum(a, dim=0)"),
    "a list": (lambda: torch.stack([t, a]), "stack(a)"),
    "a tuple": (lambda: torch.cat((a, t)), "cat(a)"),
    "+ on the right": (lambda: t + a, "add(Tensor, a)"),
    "-": (lambda: t - a, "sub(Tensor, a)"),
    "*": (lambda: t * a, "mul(Tensor, a)"),
    "/": (lambda: t / a, "div(Tensor, a)"),
    "**": (lambda: t**a, "pow(Tensor, a)"),
    "@": (lambda: t @ a, "matmul(Tensor, a)"),
    "==": (lambda: t == a, "eq(Tensor, a)"),
    "where": (lambda: torch.where(a, t, t), "where(a, Tensor, Tensor)"),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_object_takes_over(call):
    function, expected = CALLS[call]
    assert function() == expected


def test_backward_and_grad():
    assert torch.autograd.backward(a).startswith("backward(a")
    assert torch.autograd.grad(a, leaf(1.0)).startswith("grad(a, create_graph=False")
    assert torch.autograd.grad(leaf(1.0) * 2, [a]).startswith("grad(a, create_graph=False")


def test_the_next_one_is_asked():
    assert torch.add(Silent(), a) == "add(Silent, a)"


def test_nobody_takes_over():
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.(_C\.)?(\w+\.)*add'"):
        torch.add(Silent(), Silent())


def test_what_is_raised_comes_out():
    class Failing:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            raise ArithmeticError("mine")

    with pytest.raises(ArithmeticError, match="mine"):
        torch.exp(Failing())


def test_errors_of_other_calls_stay_what_they_are():
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.exp(3)
    with pytest.raises(IndexError):
        torch.sum(t, 5)


class Logged(torch.Tensor):
    """Notes each function that is called with it."""

    log: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.log.append(getattr(function, "__name__", str(function)))
        return super().__torch_function__(function, types, args, kwargs or {})


def logged(call):
    """What is called, and the result."""
    Logged.log = []
    result = call(torch.tensor([1.0, 2.0]).as_subclass(Logged))
    return [name.strip("_") for name in Logged.log if name not in ("__get__", "__set__")], result


ON_SUBCLASS = {
    "a function": (lambda s: torch.exp(s), "exp"),
    "a method": (lambda s: s.exp(), "exp"),
    "an operator": (lambda s: s + 1, "add"),
    "a reflected operator": (lambda s: 2 + s, "add"),
    "a tensor on the left": (lambda s: torch.ones(2) * s, "mul"),
    "an option": (lambda s: s.sum(dim=0), "sum"),
    "an item": (lambda s: s[0], "getitem"),
    "a comparison": (lambda s: s == s, "eq"),
    "a sign": (lambda s: -s, "neg"),
    "in a list": (lambda s: torch.stack([torch.ones(2), s]), "stack"),
}


@pytest.mark.parametrize("call", ON_SUBCLASS)
def test_a_subclass_takes_over(call):
    function, expected = ON_SUBCLASS[call]
    names, result = logged(function)
    assert names == [expected] and type(result) is Logged


def test_results_of_a_subclass_are_recorded():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x.as_subclass(Logged) * 3).sum()
    assert type(y) is Logged and y.requires_grad
    y.backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_results_in_containers():
    names, parts = logged(lambda s: s.unbind(0))
    assert names == ["unbind"] and [type(part) for part in parts] == [Logged, Logged]


def test_a_subclass_comes_before_its_base():
    class Further(Logged):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return [t.__name__ for t in types]

    base, further = torch.ones(1).as_subclass(Logged), torch.ones(1).as_subclass(Further)
    assert torch.add(base, further) == ["Further", "Logged"]


def test_switched_off():
    s = torch.ones(1).as_subclass(Logged)
    Logged.log = []
    off = torch._C.DisableTorchFunctionSubclass
    with off():
        torch.exp(s)
    assert Logged.log == []
    torch.exp(s)
    assert Logged.log != []


def test_exact_tensors_stay_exact():
    Logged.log = []
    assert type(torch.ones(1) + torch.ones(1)) is torch.Tensor and Logged.log == []


def test_as_subclass_wants_a_subclass():
    with pytest.raises(TypeError):
        torch.ones(1).as_subclass(int)


def test_helpers_for_functions_of_ones_own():
    if IS_TORCH:
        from torch import overrides
    else:
        overrides = torch.overrides

    def mine(x):
        if overrides.has_torch_function((x,)):
            return overrides.handle_torch_function(mine, (x,), x)
        return x * 2

    assert mine(a) == "mine(a)" and mine(t).tolist() == [2.0, 2.0]
    assert overrides.is_tensor_like(a) and overrides.is_tensor_like(t) and not overrides.is_tensor_like(3)


@ours("keeps one C object for each Python object by other means")
def test_every_public_operation_can_be_handed_over():
    from autograd_cy._core.ops.operations import OPS

    class Name:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return function

    missed = [name for name, op in OPS.items() if op.function(Name()) is not op.function and name != "getitem"]
    assert missed == []
