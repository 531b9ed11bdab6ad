"""pickle, copy and deepcopy of tensors: what comes along, and what memory is shared."""

import copy
import pickle

import pytest
from common import differs, leaf

import autograd_cy as torch


def pickled(x):
    return pickle.loads(pickle.dumps(x))


def with_grad():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    return x


@differs("pickle of a leaf", "drops .grad")
def test_pickle_keeps_the_gradient():
    x = pickled(with_grad())
    assert x.requires_grad and x.is_leaf and x.tolist() == [1.0, 2.0] and x.grad.tolist() == [2.0, 4.0]


@differs("pickle of a leaf", "drops .grad")
@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_pickle_keeps_of_a_gradient_with_a_graph_its_values():
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    assert pickled(x).grad.tolist() == 6.0 and not pickled(x).grad.requires_grad
    x.grad = None


def test_deepcopy_copies_the_gradient():
    x = with_grad()
    twin = copy.deepcopy(x)
    twin.grad.zero_()
    with torch.no_grad():
        twin.zero_()
    assert x.grad.tolist() == [2.0, 4.0] and x.tolist() == [1.0, 2.0] and twin.requires_grad and twin.is_leaf


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_deepcopy_refuses_a_gradient_with_a_graph():
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    with pytest.raises(RuntimeError, match=r"Only Tensors created explicitly by the user \(graph leaves\) support the deep"):
        copy.deepcopy(x)
    x.grad = None


def test_a_gradient_that_is_copied_beside_its_leaf_stays_its_gradient():
    x = with_grad()
    twin, grad = copy.deepcopy([x, x.grad])
    assert twin.grad is grad
    (twin * 1).sum().backward()
    assert grad.tolist() == [3.0, 5.0] and twin.grad is grad


def test_one_tensor_is_copied_once():
    x = leaf(1.0)
    first, second = copy.deepcopy([x, x])
    memo = {}
    assert first is second and x.__deepcopy__(memo) is memo[id(x)] is x.__deepcopy__(memo)


def test_a_copy_shares_the_memory_but_not_the_gradient():
    x = with_grad()
    twin = copy.copy(x)
    assert twin is not x and twin.grad is None and twin.requires_grad and twin.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("duplicate", [pickled, copy.copy, copy.deepcopy])
def test_attributes_come_along(duplicate):
    x = leaf(1.0)
    x.note = ["text"]
    twin = duplicate(x)
    assert twin.note == ["text"] and (twin.note is x.note) == (duplicate is copy.copy)
    assert "note" not in vars(duplicate(leaf(1.0)))


@differs("deepcopy of a tensor that holds itself", "makes a second copy")
def test_a_tensor_that_holds_itself_is_copied_with_its_loop():
    x = leaf(1.0)
    x.itself = x
    twin = copy.deepcopy(x)
    assert twin.itself is twin


@pytest.mark.parametrize("view", [
    lambda x: x[1:, ::2], lambda x: x.t(), lambda x: x[1], lambda x: x.view(12)[5], lambda x: x.expand(2, 3, 4),
])
@pytest.mark.parametrize("base_first", [True, False])
def test_deepcopy_keeps_views_of_one_memory_together(view, base_first):
    base = torch.arange(12.0).view(3, 4)
    part = view(base)
    both = copy.deepcopy([base, part] if base_first else [part, base])
    twin, other = both if base_first else both[::-1]
    assert other.stride() == part.stride() and other.data_ptr() - twin.data_ptr() == part.data_ptr() - base.data_ptr()
    twin.fill_(7.0)
    assert (other == 7.0).all() and base.flatten().tolist() == list(range(12))


@pytest.mark.parametrize("x", [
    torch.ones(0, 3), torch.tensor(True), torch.arange(6.0).reshape(2, 3).t(), torch.ones(3, dtype=torch.complex64)[1:],
], ids=["empty", "0-d", "transposed", "complex part"])
def test_deepcopy_keeps_values_types_and_strides(x):
    twin = copy.deepcopy(x)
    assert (twin.tolist(), twin.dtype, twin.shape, twin.stride()) == (x.tolist(), x.dtype, x.shape, x.stride())


@pytest.mark.parametrize("duplicate", [pickled, copy.copy])
def test_a_computed_tensor_becomes_a_leaf(duplicate):
    y = duplicate(leaf(1.0) * 2)
    assert y.is_leaf and y.requires_grad and y.item() == 2.0


def test_hooks_stay_behind():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2)
    twin = copy.deepcopy(x)
    twin.exp().backward()
    assert twin.grad.item() == pytest.approx(2.718281828459045)
