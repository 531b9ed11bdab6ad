"""Truncated backpropagation: cutting the history of tensors. PyTorch has none; the names are Chainer's."""

import gc
import weakref

import pytest
from common import IS_TORCH, Double, in_threads, leaf

import autograd_cy as torch

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch has none")

unchain, unchain_backward = torch.autograd.graph.unchain, torch.autograd.graph.unchain_backward


def test_backward_stops_at_the_tensor():
    x = leaf(2.0)
    state = x * 3
    y = state * x
    assert unchain(state) is state
    assert state.is_leaf and not state.requires_grad and state.item() == 6.0
    y.backward()
    assert x.grad.item() == 6.0


def test_what_was_behind_it_is_freed():
    x = leaf([2.0])
    before = x * 3
    node = weakref.ref(before.grad_fn)
    state = before.exp()
    y = state * x
    del before
    unchain(state)
    gc.collect()
    assert node() is None and y.grad_fn is not None


def test_unchain_backward_cuts_everywhere():
    w, total = leaf(0.5), 0.0
    state = torch.ones((), dtype=torch.float64)
    for _ in range(3):
        before = state.item()
        state = state * w
        loss = state * state
        loss.backward()
        unchain_backward(loss)
        total += 2 * before * before * 0.5  # of (before * w)**2
    assert w.grad.item() == pytest.approx(total)


def test_a_long_run_keeps_no_history():
    w = leaf(0.999)
    state = torch.ones((), dtype=torch.float64)
    first = None
    for step in range(50):
        state = state * w
        first = first or weakref.ref(state.grad_fn)
        if step % 10 == 9:
            (state * 1).backward()
            unchain_backward(state)
    gc.collect()
    assert first() is None and state.is_leaf


def test_functions_that_were_cut_are_not_called():
    x = leaf(2.0)
    state = Double.apply(x)
    y = state * x
    Double.calls = 0
    unchain(state)
    y.backward()
    assert Double.calls == 0 and x.grad.item() == 4.0


def test_nodes_of_many_inputs():
    xs = [leaf([float(k)]) for k in range(6)]
    y = torch.cat(xs) * 1
    state = torch.cat([x * 1 for x in xs])
    z = (state * y).sum()
    unchain(state)
    z.backward()
    assert [x.grad.item() for x in xs] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_leaves_stay_as_they_are():
    x = leaf(2.0)
    assert unchain(x) is x and unchain_backward(x) is x and x.requires_grad
    constant = torch.ones(1)
    assert unchain(constant) is constant


def test_a_deep_graph():
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 1
    unchain_backward(y)
    assert y.is_leaf


def test_cutting_while_backward_runs():
    """The engine may have visited what is cut: it must not be freed under it."""
    x = leaf(2.0)
    first = x.exp()
    second = first * 3
    last = second.sin()
    last.register_hook(lambda g: unchain_backward(second) and None)
    z = last * 2
    del first
    z.backward()
    assert x.grad is None and second.is_leaf


def test_cutting_while_other_threads_run():
    x = leaf([1.0, 2.0])

    def work(number):
        for _ in range(200):
            y = (x * 2).exp()
            z = y + y * 2
            if number % 2:
                unchain(y)
            else:
                z.sum().backward()

    in_threads(4, work)
    assert x.grad is not None
