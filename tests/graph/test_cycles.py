"""Cycles that users build through hooks, nodes and gradients are freed by the collector."""

import gc
import weakref

import pytest
from common import SaveBoth, alive, differs, leaf, watch

import autograd_cy as torch

create_graph_warning = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")


class KeepOutput(torch.autograd.Function):
    """2 * x, with the output as an attribute of its own node."""

    @staticmethod
    def forward(ctx, x):
        ctx.y = x * 2
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        return g * 2


def hook_that_holds_a_later_output():
    mid, later = leaf(1.0) * 2, []
    mid.register_hook(lambda g: later and None)
    later.append(mid * 3)
    return mid, later[0]


def hook_that_holds_an_earlier_output():
    mid = leaf(1.0) * 2
    y = mid * 3
    mid.register_hook(lambda g: y and None)
    return mid, y


def hook_that_holds_its_own_tensor():
    y = leaf(1.0) * 2
    y.register_hook(lambda g: g * y)
    return (y,)


def hook_of_a_leaf_that_holds_the_leaf():
    x = leaf(1.0)
    x.register_hook(lambda g: g * x.detach())
    return (x,)


def hook_of_a_leaf_that_holds_an_output():
    x = leaf(1.0)
    y = x * 2
    x.register_hook(lambda g: y and None)
    return x, y


def node_hook_that_holds_the_output():
    x = leaf(1.0)
    y = (x * 2).exp()
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: y and None)
    return x, y


def prehook_that_holds_the_output():
    x = leaf(1.0)
    y = (x * 2).exp()
    y.grad_fn.register_prehook(lambda grad_outputs: y and None)
    return x, y


def ctx_that_holds_its_output():
    x = leaf(1.0)
    return x, KeepOutput.apply(x)


def ctx_that_holds_a_later_output():
    x = leaf(1.0)
    y = SaveBoth.apply(x * 1)
    y.grad_fn.later = y * 2
    return x, y, y.grad_fn.later


def attribute_that_holds_an_output():
    x = leaf(1.0)
    x.output = x * x
    return x, x.output


def attribute_that_holds_its_own_tensor():
    y = leaf(1.0) * 2
    y.itself = y
    return (y,)


def grad_with_a_graph_back_to_its_leaf():
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    return x, x.grad


leaks = differs("reference cycles", "keeps such a cycle for ever")

CYCLES = [
    hook_of_a_leaf_that_holds_the_leaf,
    ctx_that_holds_its_output,
    attribute_that_holds_its_own_tensor,
    pytest.param(hook_that_holds_a_later_output, marks=leaks),
    pytest.param(hook_that_holds_an_earlier_output, marks=leaks),
    pytest.param(hook_that_holds_its_own_tensor, marks=leaks),
    pytest.param(hook_of_a_leaf_that_holds_an_output, marks=leaks),
    pytest.param(node_hook_that_holds_the_output, marks=leaks),
    pytest.param(prehook_that_holds_the_output, marks=leaks),
    pytest.param(ctx_that_holds_a_later_output, marks=leaks),
    pytest.param(attribute_that_holds_an_output, marks=leaks),
    pytest.param(grad_with_a_graph_back_to_its_leaf, marks=leaks),
]


@create_graph_warning
@pytest.mark.parametrize("backward", [False, True], ids=["unrun", "run"])
@pytest.mark.parametrize("build", CYCLES)
def test_cycles_are_collected(build, backward, no_collector):
    def build_and_run():
        tensors = build()
        if backward and tensors[-1].grad_fn is not None:
            tensors[-1].backward(retain_graph=True)
        return tensors

    refs = watch(build_and_run)
    assert any(alive(refs))
    gc.collect()
    assert not any(alive(refs))


@pytest.mark.parametrize("build", [hook_of_a_leaf_that_holds_the_leaf, ctx_that_holds_its_output])
def test_a_cycle_that_is_still_held_survives_the_collector(build):
    tensors = build()
    gc.collect()
    root = tensors[-1] * 1
    root.backward()
    assert tensors[0].grad.item() in (1.0, 2.0)


@create_graph_warning
def test_clearing_grad_breaks_the_cycle_of_create_graph(no_collector):
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    refs = [weakref.ref(x), weakref.ref(x.grad)]
    x.grad = None
    del x
    assert not any(alive(refs))
