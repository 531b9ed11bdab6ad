"""Plain hooks: on tensors, before and after nodes; what they see, may replace, and may not."""

import copy
import pickle
from collections import OrderedDict

import pytest
from common import leaf

import autograd_cy as torch
from autograd_cy.utils.hooks import RemovableHandle

# Hooks on tensors


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x * 1], ids=["leaf", "intermediate"])
def test_a_tensor_hook_sees_the_gradient_and_may_replace_it(make):
    x = leaf([1.0, 2.0])
    y, seen = make(x), []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 3).sum().backward()
    assert seen == [[3.0, 3.0], [30.0, 30.0]] and x.grad.tolist() == [30.0, 30.0]


def test_a_tensor_hook_runs_once_on_the_sum_of_all_uses():
    x, seen = leaf(2.0), []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 3 + y * y + y).backward()
    assert seen == [3 + 4 + 1.0]


def test_a_hook_of_the_root_sees_the_seed():
    y, seen = leaf([1.0, 2.0]) * 2, []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.backward(torch.tensor([5.0, 6.0], dtype=torch.float64))
    assert seen == [[5.0, 6.0]]


def test_a_hook_replaces_what_this_backward_adds_not_the_sum():
    x = leaf(2.0)
    x.register_hook(lambda g: g * 10)
    for _ in range(2):
        (x * 3).backward()
    assert x.grad.item() == 60.0


def test_each_output_of_a_node_has_its_own_hooks():
    x, seen = leaf([1.0, 2.0, 3.0]), []
    parts = x.unbind(0)
    for i in (0, 2):
        parts[i].register_hook(lambda g, i=i: seen.append(i))
    parts[2].register_hook(lambda g: g * 10)
    (parts[0] + parts[1] + parts[2]).backward()
    assert sorted(seen) == [0, 2] and x.grad.tolist() == [1.0, 1.0, 10.0]


def test_a_hooks_gradient_is_recorded_under_create_graph_only():
    x, seen = leaf(2.0), []
    y = x * 1
    y.register_hook(lambda g: seen.append((torch.is_grad_enabled(), g.requires_grad)))
    torch.autograd.grad(y * y, x, retain_graph=True)
    torch.autograd.grad(y * y, x, create_graph=True)
    assert seen == [(False, False), (True, True)]


def test_a_replaced_gradient_can_be_differentiated():
    x = leaf(2.0)
    y = x * 1
    with y.register_hook(lambda g: g * g):
        (g,) = torch.autograd.grad(y * y, x, create_graph=True)
    (gg,) = torch.autograd.grad(g, x)
    assert (g.item(), gg.item()) == (16.0, 16.0)  # (2x)^2 and 8x


def test_retain_grad_keeps_the_gradient_as_hooks_left_it():
    x = leaf(2.0)
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    (y * 1).backward()
    assert y.grad.item() == 5.0


def test_the_gradient_that_a_hook_keeps_stays_as_it_was():
    x, kept = leaf([1.0, 2.0]), []
    y = x * 1
    y.register_hook(kept.append)
    (y + x).sum().backward()
    assert kept[0].tolist() == [1.0, 1.0] and x.grad.tolist() == [2.0, 2.0]
    x.grad.fill_(7.0)
    assert kept[0].tolist() == [1.0, 1.0]


# Hooks on nodes


def test_a_node_hook_sees_both_sides_and_may_replace_the_result():
    a, b = leaf(2.0), leaf(3.0)
    y, seen = a * b, []

    def hook(grad_inputs, grad_outputs):
        seen.append(([g.item() for g in grad_inputs], [g.item() for g in grad_outputs]))
        return grad_inputs[0] * 10, None

    y.grad_fn.register_hook(hook)
    (y * 2).backward()
    assert seen == [([6.0, 4.0], [2.0])]
    assert a.grad.item() == 60.0 and b.grad is None


def test_a_node_hook_sees_none_where_there_is_no_gradient():
    y, seen = leaf(2.0) * torch.tensor(3.0, dtype=torch.float64), []
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.append(grad_inputs[1]))
    y.backward()
    assert seen == [None]


def test_a_prehook_may_replace_what_comes_in():
    a, b = leaf(2.0), leaf(3.0)
    y, seen = a * b, []
    y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
    y.grad_fn.register_prehook(lambda grad_outputs: seen.append(grad_outputs[0].item()))
    y.backward()
    assert seen == [10.0] and (a.grad.item(), b.grad.item()) == (30.0, 20.0)


def test_a_prehook_sees_none_for_outputs_without_gradient():
    parts, seen = leaf([1.0, 2.0, 3.0]).unbind(0), []
    parts[0].grad_fn.register_prehook(lambda grad_outputs: seen.append([g is None for g in grad_outputs]))
    parts[1].backward()
    assert seen == [[True, False, True]]


def test_hooks_run_in_the_order_of_their_kind_then_of_registration():
    y, order = leaf(2.0) * 1, []
    y.grad_fn.register_hook(lambda i, o: order.append("after 1"))
    y.grad_fn.register_prehook(lambda o: order.append("before 1"))
    y.register_hook(lambda g: order.append("tensor 1"))
    y.register_hook(lambda g: order.append("tensor 2"))
    y.grad_fn.register_prehook(lambda o: order.append("before 2"))
    y.grad_fn.register_hook(lambda i, o: order.append("after 2"))
    (y * 1).backward()
    assert order == ["tensor 1", "tensor 2", "before 1", "before 2", "after 1", "after 2"]


def test_hooks_of_a_node_outlive_the_tensor_that_gave_it():
    x, seen = leaf(2.0), []
    y = x * 1
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_hook(lambda i, o: seen.append("node"))
    z = y * 1
    del y
    z.backward()
    assert seen == ["tensor", "node"]


# Handles


HOOKABLE = {
    "tensor": lambda y, call: y.register_hook(lambda g: call()),
    "node": lambda y, call: y.grad_fn.register_hook(lambda i, o: call()),
    "before a node": lambda y, call: y.grad_fn.register_prehook(lambda o: call()),
}


@pytest.mark.parametrize("where", HOOKABLE)
def test_a_handle_removes_its_hook_and_no_other(where):
    y, seen = leaf(2.0) * 1, []
    first = HOOKABLE[where](y, lambda: seen.append("first"))
    HOOKABLE[where](y, lambda: seen.append("second"))
    y.backward(retain_graph=True)
    first.remove()
    first.remove()
    y.backward()
    assert seen == ["first", "second", "second"]


@pytest.mark.parametrize("where", HOOKABLE)
def test_a_handle_is_a_context_manager(where):
    y, seen = leaf(2.0) * 1, []
    with HOOKABLE[where](y, lambda: seen.append("called")) as handle:
        y.backward(retain_graph=True)
    assert type(handle).__name__ == "RemovableHandle"
    y.backward()
    assert seen == ["called"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_a_copied_handle_removes_from_the_copied_hooks(copied):
    """The handle of a copied module removed the hook of the original; pickles of lazy layers failed."""
    hooks, other = OrderedDict(), OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=other)
    hooks[handle.id] = other[handle.id] = abs
    twin_hooks, twin_other, twin = copied((hooks, other, handle))
    twin.remove()
    assert not twin_hooks and not twin_other and hooks and other
    assert RemovableHandle(hooks).id > twin.id
    copied((handle,))[0].remove()
    assert hooks and copied(torch.nn.LazyLinear(2))(torch.ones(1, 3)).shape == (1, 2)


def test_a_handle_outlives_its_tensor():
    y = leaf(2.0) * 1
    handle = y.register_hook(lambda g: None)
    del y
    handle.remove()


# Refusals


def test_a_tensor_without_gradient_takes_no_hook():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require grad"):
        torch.ones(2).register_hook(lambda g: g)


WRONG_GRADIENTS = {
    "int": (3, TypeError, "expected Variable, but hook returned 'int'"),
    "tuple": ((torch.ones(2),), TypeError, "expected Variable, but hook returned 'tuple'"),
    "size": (torch.ones(3), RuntimeError, "hook '.*' has changed the size of value"),
    "broadcastable size": (torch.ones(1), RuntimeError, "hook '.*' has changed the size of value"),
    "dtype": (torch.ones(2, dtype=torch.float64), RuntimeError,
              r"has changed the type of value \(was (torch\.)?FloatTensor got (torch\.)?DoubleTensor\)"),
}


@pytest.mark.parametrize("wrong", WRONG_GRADIENTS)
@pytest.mark.parametrize("make", [lambda x: x, lambda x: x * 1], ids=["leaf", "intermediate"])
def test_the_result_of_a_tensor_hook_is_checked(wrong, make):
    returned, error, message = WRONG_GRADIENTS[wrong]
    x = leaf([1.0, 2.0], torch.float32)
    y = make(x)
    handle = y.register_hook(lambda g: returned)
    z = y.sum()
    with pytest.raises(error, match=message):
        z.backward(retain_graph=True)
    assert x.grad is None
    handle.remove()
    z.backward()
    assert x.grad.tolist() == [1.0, 1.0]


ONE = torch.ones(2)
WRONG_TUPLES = {
    "one of two": ("register_hook", (ONE,), RuntimeError,
                   r"hook '.*' has returned an incorrect number of values \(got 1, but expected 2\)"),
    "three of two": ("register_hook", (ONE,) * 3, RuntimeError, r"\(got 3, but expected 2\)"),
    "int": ("register_hook", 3, TypeError, "expected tuple, but hook returned 'int'"),
    "tensor": ("register_hook", ONE, TypeError, "expected tuple, but hook returned 'Tensor'"),
    "ints": ("register_hook", (3, 3), TypeError, "expected Variable, but hook returned 'int'"),
    "size": ("register_hook", (torch.ones(3),) * 2, RuntimeError, "has changed the size of value"),
    "dtype": ("register_hook", (ONE.double(),) * 2, RuntimeError, "has changed the type of value"),
    "two of one": ("register_prehook", (ONE,) * 2, RuntimeError, r"\(got 2, but expected 1\)"),
    "int before": ("register_prehook", 3, TypeError, "expected tuple, but hook returned 'int'"),
    "size before": ("register_prehook", (torch.ones(3),), RuntimeError, "has changed the size of value"),
}


@pytest.mark.parametrize("wrong", WRONG_TUPLES)
def test_the_result_of_a_node_hook_is_checked(wrong):
    register, returned, error, message = WRONG_TUPLES[wrong]
    a, b = leaf([1.0, 2.0], torch.float32), leaf([3.0, 4.0], torch.float32)
    y = a * b
    getattr(y.grad_fn, register)(lambda *grads: returned)
    with pytest.raises(error, match=message):
        y.sum().backward()
    assert a.grad is None and b.grad is None


@pytest.mark.parametrize("where", HOOKABLE)
def test_an_exception_in_a_hook_comes_out_as_it_is(where):
    def fail():
        raise ValueError("mine")

    x = leaf(2.0)
    y = x * 1
    HOOKABLE[where](y, fail)
    with pytest.raises(ValueError, match=r"^mine"):
        y.backward()
    assert x.grad is None


def test_hooks_stay_with_a_tensor_that_is_detached_in_place():
    """They are called when it requires grad again, and can be removed meanwhile."""
    y, seen = leaf([1.0, 2.0]) * 2, []
    first = y.register_hook(lambda g: seen.append("first"))
    y.register_hook(lambda g: g * 5)
    y.detach_()
    assert len(y._backward_hooks) == 2
    with pytest.raises(RuntimeError, match="doesn't require grad"):
        y.register_hook(print)
    y.requires_grad_()
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 3).sum().backward()
    assert seen == ["first", [15, 15]] and y.grad.tolist() == [15, 15]
    y.detach_()
    first.remove()
    y.requires_grad_()
    assert torch.autograd.grad(y.sum(), y)[0].tolist() == [5, 5] and seen[2:] == [[5, 5]]


def test_hooks_are_gone_when_a_detached_tensor_is_written_with_one_that_requires_grad():
    y, w = leaf([1.0, 2.0]) * 2, leaf([3.0, 4.0])
    y.register_hook(lambda g: g * 5)
    y.detach_()
    y.mul_(w)
    assert y._backward_hooks is None
    y.sum().backward()
    assert w.grad.tolist() == [2, 4]


def test_multi_grad_hooks_of_any_stay_with_a_tensor_that_is_detached_in_place():
    x = leaf([1.0, 2.0])
    y, z, seen = x * 2, x * 3, []
    torch.autograd.graph.register_multi_grad_hook((y, z), lambda g: seen.append(g.tolist()), mode="any")
    y.detach_()
    y.requires_grad_()
    y.sum().backward()
    assert seen == [[1, 1]]
