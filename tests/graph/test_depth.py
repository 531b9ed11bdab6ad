"""Graphs of a million nodes build, run and die; in a thread with a small stack too."""

import gc
import weakref

import pytest
from common import Double, differs, in_threads, leaf

import autograd_cy as torch

MILLION = 1_000_000
SMALL_STACK = 256 * 1024


def add(y, b):
    return y + b


def multiply(y, b):
    return y * b  # saves y: the chain alternates between tensors and nodes


def wave(y, b):
    return y.tanh().exp()  # save their outputs


def chain(step, length, start=1.0):
    """A leaf, another one, and what `length` times `step` makes of them."""
    x, b = leaf(start), leaf(1.0)
    y = x
    for _ in range(length):
        y = step(y, b)
    return x, b, y


@pytest.mark.parametrize("step, nodes, stack, slope", [
    pytest.param(add, 1, 0, MILLION, id="add"),
    pytest.param(add, 1, SMALL_STACK, MILLION, id="add, small stack"),
    pytest.param(multiply, 1, SMALL_STACK, MILLION, id="mul, small stack"),
    pytest.param(wave, 2, SMALL_STACK, None, id="tanh and exp, small stack"),
])
def test_a_million_nodes_build_run_and_die(step, nodes, stack, slope):
    def live(_):
        x, b, y = chain(step, MILLION // nodes)
        y.backward()
        assert 0.0 <= x.grad.item() <= 1.0
        assert (b.grad and b.grad.item()) == slope

    in_threads(1, live, stack)


@pytest.mark.parametrize("step, nodes", [(add, 1), (multiply, 1), (wave, 2)])
def test_a_million_nodes_that_never_ran_die(step, nodes):
    in_threads(1, lambda _: chain(step, MILLION // nodes), SMALL_STACK)


DEEP = 100_000


def retained():
    _, b, y = chain(multiply, DEEP)
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    assert b.grad.item() == 2 * DEEP


def differentiated():
    _, b, y = chain(multiply, DEEP)
    (g,) = torch.autograd.grad(y, b, create_graph=True)
    assert g.item() == DEEP and g.requires_grad


def of_functions():
    Double.calls = 0
    *_, y = chain(lambda y, b: Double.apply(y), DEEP, start=0.0)
    y.backward()
    assert Double.calls == DEEP


def of_views():
    x, _, y = chain(lambda y, b: y.view(1).view(()), DEEP)
    y.backward()
    assert x.grad.item() == 1.0


def with_hooks():
    seen = []

    def hooked(y, b):
        y = y * b
        y.register_hook(lambda g: seen.append(None))
        return y

    *_, y = chain(hooked, DEEP)
    y.backward()
    assert len(seen) == DEEP


def walked_from_the_root():
    x, _, y = chain(multiply, DEEP)
    node, count = y.grad_fn, 0
    del y
    while node.next_functions:
        node, count = node.next_functions[0][0], count + 1
    assert count == DEEP and node.variable is x


def collected_with_a_cycle():
    x, _, y = chain(multiply, DEEP)
    x.register_hook(lambda g, y=y: None)
    ref = weakref.ref(y)
    del x, y
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("live", [
    retained, differentiated, of_functions, of_views, walked_from_the_root,
    pytest.param(with_hooks, marks=differs("a chain of 10^6 nodes", "overflows the stack when the chain dies")),
    pytest.param(collected_with_a_cycle, marks=differs("reference cycles", "keeps such a cycle for ever")),
])
def test_deep_graphs_die_on_a_small_stack(live):
    in_threads(1, lambda _: live(), SMALL_STACK)


def test_a_live_deep_graph_is_no_burden_to_the_collector():
    _, b, y = chain(multiply, DEEP)
    for _ in range(3):
        gc.collect()
    y.backward()
    assert b.grad.item() == DEEP
