"""Subclasses of Tensor: results of operations are of the class, as PyTorch's default `__torch_function__` makes them."""

import copy
import pickle
from typing import ClassVar
from unittest import mock

import numpy as np
import pytest
from common import IS_TORCH, leaf, ours, run_script
from op_calls import Call, each_sample, one_dtype, to_numpy
from opinfo import DIFFERENTIABLE, OPS

import autograd_cy as torch


class Named(torch.Tensor):
    """Nothing of its own."""


class Other(torch.Tensor):
    """Unrelated to Named."""


class Further(Named):
    """More special than Named."""


class Parameter(torch.Tensor):
    """Like PyTorch's: operations take it for a Tensor."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __new__(cls, data, requires_grad=True):
        return torch.Tensor._make_subclass(cls, data, requires_grad)


class Labelled(torch.Tensor):
    """With a `__new__` that takes more than data."""

    def __new__(cls, data, label):
        self = super().__new__(cls, data)
        self.label = label
        return self


def named(*values):
    return Named(list(values))


# every operation


def sites(row):
    """The row's samples in one dtype that have an argument to be of a subclass."""
    return one_dtype(row)


@each_sample(OPS, sites)
def test_an_operation_with_an_operand_of_a_subclass(row, sample):
    call = Call(row, sample)
    plain = call(*call.leaves(requires_grad=False))
    for i in range(len(call.arrays)):
        operands = call.leaves(requires_grad=False)
        operands[i] = operands[i].as_subclass(Named)
        found = call(*operands)
        assert {type(y) for y in found} == {Named}
        for y, expected in zip(found, plain, strict=True):
            np.testing.assert_array_equal(to_numpy(y), to_numpy(expected))


@each_sample(DIFFERENTIABLE, one_dtype)
def test_the_gradient_of_an_operation_on_a_subclass(row, sample):
    gradients = []
    for kind in (torch.Tensor, Named):
        call = Call(row, sample)
        leaves = call.leaves()
        found = call(*[x if kind is torch.Tensor else x.as_subclass(kind) for x in leaves])
        torch.autograd.backward([y for y in found if y.requires_grad], [torch.ones_like(y) for y in found if y.requires_grad])
        gradients.append([x.grad for x in leaves])
    for expected, g in zip(*gradients, strict=True):
        assert (g is None) == (expected is None)
        if g is not None:
            np.testing.assert_array_equal(to_numpy(g), to_numpy(expected))


METHODS = [row for row in OPS if row.method and not row.path.startswith("nn.")]


@each_sample(METHODS, one_dtype, lambda row, sample: isinstance(sample.args[0], np.ndarray))
def test_a_method_of_a_subclass(row, sample):
    call = Call(row, sample)
    call.op = lambda x, *args, **kwargs: getattr(x.as_subclass(Named), row.name)(*args, **kwargs)
    assert {type(y) for y in call(*call.leaves(requires_grad=False))} == {Named}


@each_sample([row for row in OPS if row.operator], one_dtype, lambda row, sample: not sample.kwargs)
def test_an_operator_of_a_subclass(row, sample):
    for i in range(len(sample.args)):
        call = Call(row, sample)
        operands = call.leaves(requires_grad=False)
        if i < len(operands):
            call.op = row.operator
            operands[i] = operands[i].as_subclass(Named)
            assert {type(y) for y in call(*operands)} == {Named}


# what is no operation of the table

SPELLINGS = {
    "abs": lambda x: abs(x), "pos": lambda x: +x, "neg": lambda x: -x, "reflected": lambda x: 2 - x, "rdiv": lambda x: 2 / x,
    "array on the left": lambda x: np.ones(2, np.float32) * x, "tensor on the left": lambda x: torch.ones(2) + x,
    "comparison": lambda x: x < 1, "reflected comparison": lambda x: torch.ones(2) < x, "invert": lambda x: ~x.bool(),
    "item": lambda x: x[0], "part": lambda x: x[:1], "index": lambda x: torch.ones(3)[x.long()],
    "indices": lambda x: torch.ones(3, 3)[x.long(), x.long()],
    "iteration": lambda x: next(iter(x)), "data": lambda x: x.data,
    "T": lambda x: x.view(1, 2).T, "mT": lambda x: x.view(1, 2).mT,
    "real": lambda x: x.real, "detach": lambda x: x.detach(), "detach_": lambda x: x.detach_(),
    "to": lambda x: x.to(torch.float64),
    "the same": lambda x: x.to(torch.float32), "double": lambda x: x.double(), "cpu": lambda x: x.cpu(),
    "type": lambda x: x.type(torch.float64), "type_as": lambda x: x.type_as(torch.ones(1).double()),
    "type of another": lambda x: torch.ones(1).double().type_as(x), "view_as": lambda x: x.view_as(torch.ones(2, 1)),
    "new_zeros": lambda x: x.new_zeros(2), "new_ones": lambda x: x.new_ones(2), "new_full": lambda x: x.new_full((2,), 1),
    "new_empty": lambda x: x.new_empty(2), "new_tensor": lambda x: x.new_tensor([1]), "contiguous": lambda x: x.contiguous(),
    "zeros_like": torch.zeros_like, "ones_like": torch.ones_like, "empty_like": torch.empty_like, "rand_like": torch.rand_like,
    "randn_like": torch.randn_like, "full_like": lambda x: torch.full_like(x, 1), "as_tensor": torch.as_tensor,
    "asarray": torch.asarray, "add_": lambda x: x.add_(1), "zero_": lambda x: x.zero_(),
    "requires_grad_": lambda x: x.requires_grad_(),
    "of another, in place": lambda x: torch.ones(2).mul_(x), "copy_": lambda x: torch.ones(2).copy_(x),
    "out": lambda x: torch.exp(torch.ones(2), out=x), "into a tensor": lambda x: torch.exp(x, out=torch.ones(2)),
    "max": lambda x: x.max(0).values, "split": lambda x: x.split(1)[1], "list": lambda x: torch.stack([torch.ones(2), x]),
    "copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_result_is_of_the_class(spelling):
    if IS_TORCH and spelling in ("deepcopy", "array on the left"):
        pytest.skip("PyTorch asks for a new_empty() of the class, and is asked by NumPy element by element")
    assert type(SPELLINGS[spelling](named(1.0, 1.0))) is Named


def test_augmented_assignment():
    x, t = named(1.0, 2.0), torch.ones(2)
    y = x
    y += 1
    t += x
    assert y is x and type(t) is Named and t.tolist() == [3.0, 4.0]


def test_superclass_methods():
    class Careful(torch.Tensor):
        def __add__(self, other):
            return super().__add__(other)

        def exp(self):
            return super().exp()

        def double(self):
            return super().double()

    x = Careful([1.0])
    assert {type(y) for y in (x + 1, x.exp(), x.double())} == {Careful}


def test_containers_keep_their_type():
    found = named(1.0, 3.0).max(0)
    assert type(found).__name__ == "max" and type(found.indices) is Named
    assert type(named(1.0).shape) is torch.Size


def test_gradients():
    x = named(1.0, 2.0).requires_grad_()
    y = (x * x).sum()
    (g,) = torch.autograd.grad(y, x, retain_graph=True)
    y.backward()
    assert type(g) is Named and type(x.grad) is torch.Tensor and g.tolist() == x.grad.tolist() == [2.0, 4.0]


def test_results_are_views_that_alias_the_operations_own():
    x = leaf([1.0, 2.0])
    y = x.as_subclass(Named) * 2
    assert [y.grad_fn.name(), y.grad_fn.next_functions[0][0].name()] == ["AliasBackward0", "MulBackward0"]
    assert type(y._base) is torch.Tensor and not y.is_leaf
    z = x.as_subclass(Named)
    assert z._base is x and z.data_ptr() == x.data_ptr()


def test_a_write_to_a_view_of_a_result():
    x = named(1.0, 2.0).requires_grad_()
    y = x * 1
    y[0].mul_(5)
    y.sum().backward()
    assert y.tolist() == [5.0, 2.0] and x.grad.tolist() == [5.0, 1.0]


def test_a_function_gets_and_gives_the_class():
    seen = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(type(x))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = Twice.apply(named(1.0).requires_grad_())
    assert type(y) is Named and seen == [Named] and y.requires_grad


# several classes


def test_the_most_special_class_wins():
    a, b = named(1.0), Further([1.0])
    assert {type(y) for y in (a + b, b + a, torch.mul(a, b), torch.stack([a, b]))} == {Further}


def test_unrelated_classes_are_refused():
    with pytest.raises(TypeError):
        named(1.0) + Other([1.0])
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.add'"):
        torch.add(named(1.0), Other([1.0]))


def test_a_class_whose_protocol_is_disabled_gives_tensors():
    p = Parameter(torch.ones(2))
    assert {type(y) for y in (p + 1, p[0], p.detach(), p.data, p.clone(), p.double(), torch.exp(p))} == {torch.Tensor}
    assert type(p.float()) is Parameter and type(p.requires_grad_()) is Parameter
    assert type(p + named(1.0)) is type(named(1.0) + p) is Named
    assert p.requires_grad and p.is_leaf and (p * 2).sum().grad_fn.next_functions[0][0].next_functions[0][0].variable is p


def test_classes_are_not_looked_at():
    with torch._C.DisableTorchFunctionSubclass():
        assert type(named(1.0) + 1) is type(torch.exp(named(1.0))) is type(named(1.0).double()) is torch.Tensor
    assert type(named(1.0) + 1) is Named


# making instances


def test_instances_are_made_without_the_users_new():
    x = torch.ones(2).as_subclass(Labelled)
    assert type(x) is Labelled and not hasattr(x, "label")
    y = Labelled([1.0], label="y")
    assert y.label == "y" and type(y * 2) is Labelled and not hasattr(y * 2, "label")


def test_data_is_taken_in_new():
    class Noted(torch.Tensor):
        def __init__(self, data, note=None):
            self.note = note

    x = Noted([1.0, 2.0])
    assert x.tolist() == [1.0, 2.0] and x.note is None
    with pytest.raises(TypeError, match=r"new\(\) received an invalid combination of arguments - got \(list, note=str"):
        Noted([1.0], note="n")


class Seen(torch.Tensor):
    """Notes which functions were called on it."""

    calls: ClassVar = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Returned(torch.autograd.Function):
    """Its input, as it is."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


@pytest.mark.parametrize("kind", [Named, Seen])
def test_an_input_that_a_function_returns_stays_of_its_class(kind):
    """As PyTorch does, by `view_as`, which the class sees."""
    leaf = torch.ones(2, requires_grad=True)
    x = torch.Tensor._make_subclass(kind, torch.ones(2), True) if kind is Seen else leaf.as_subclass(kind)
    Seen.calls.clear()
    y = Returned.apply(x)
    assert type(y) is kind and y is not x and y.data_ptr() == x.data_ptr()
    assert Seen.calls[:1] == (["view_as"] if kind is Seen else [])
    y.sum().backward()
    assert (x.grad if kind is Seen else leaf.grad).tolist() == [2, 2]


def test_a_view_as_that_returns_no_view_is_refused():
    class Wrong(torch.Tensor):
        def view_as(self, other):
            return self.clone()

    with pytest.raises(TypeError, match=r"Wrong\.view_as.* must return a view"):
        Returned.apply(torch.Tensor._make_subclass(Wrong, torch.ones(2), True))


def test_make_subclass():
    x = leaf([1.0, 2.0])
    y = torch.Tensor._make_subclass(Named, x * 2, True)
    assert type(y) is Named and y.is_leaf and y.requires_grad and y.tolist() == [2.0, 4.0]
    assert not torch.Tensor._make_subclass(Named, x).requires_grad
    assert torch.Tensor._make_subclass(Named, x).data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="nly Tensors of floating point and complex dtype can require gradients"):
        torch.Tensor._make_subclass(Named, torch.ones(1).long(), True)
    with pytest.raises(TypeError, match="Creating a Tensor subclass from a class that does not inherit from Tensor"):
        torch.Tensor._make_subclass(int, x)
    with pytest.raises(TypeError, match=r"argument 'data' \(position 2\) must be Tensor, not int"):
        torch.Tensor._make_subclass(Named, 3)


def test_keywords_of_a_class_statement_reach_the_users_hook():
    seen = []

    class Base(torch.Tensor):
        def __init_subclass__(cls, **kwargs):
            seen.append(kwargs)

    class Derived(Base, flag=3):
        pass

    assert seen == [{"flag": 3}] and type(Derived([1.0]) + 1) is Derived


def test_text():
    assert repr(named(1.0, 2.0)) == "Named([1., 2.])"
    assert repr(Parameter(torch.ones(1))) == "Parameter([1.], requires_grad=True)"


# attributes of Tensor


def test_a_method_is_attached_to_tensor_and_taken_off():
    torch.Tensor.doubled = lambda self: self + self
    try:
        assert torch.ones(1).doubled().tolist() == [2.0] and type(named(1.0).doubled()) is Named
    finally:
        del torch.Tensor.doubled
    with pytest.raises(AttributeError):
        torch.ones(1).doubled()


def test_a_property_and_a_constant_of_tensor():
    torch.Tensor.first, torch.Tensor.flavour = property(lambda self: self[0]), "plain"
    try:
        assert torch.ones(2).first.item() == 1.0 and named(1.0).flavour == "plain"
    finally:
        del torch.Tensor.first, torch.Tensor.flavour


@pytest.mark.parametrize("name", ["exp", "__add__", "shape", "to", "requires_grad_"])
def test_what_tensor_has_is_replaced_and_comes_back(name):
    original = getattr(torch.Tensor, name)
    setattr(torch.Tensor, name, lambda self, *args: "mine")
    try:
        x = torch.ones(2)
        assert (x + 1 if name == "__add__" else getattr(x, name)()) == "mine"
    finally:
        delattr(torch.Tensor, name)
    assert getattr(torch.Tensor, name) == original
    assert (torch.ones(2) + 1).exp().to(torch.float64).shape == (2,)


def test_patching_with_mock():
    with mock.patch.object(torch.Tensor, "exp", lambda self: "mine"):
        assert torch.ones(1).exp() == "mine"
    assert torch.ones(1).exp().item() > 2.7


@ours("has other names")
def test_what_was_patched_before_the_first_subclass_stays():
    script = """
torch.Tensor.to = lambda self, *args: "mine"
class A(torch.Tensor): pass
print(torch.ones(1).to(3), A([1.]).to(3), type(A([1.]).double()).__name__)
"""
    assert run_script(script) == ["mine", "mine", "A"]
