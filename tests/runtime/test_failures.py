"""After an exception in backward the engine, the graph and the leaves are as they should be."""

import logging
import signal

import pytest
from common import IS_TORCH, Fail, define, leaf

import autograd_cy as torch


class Trap:
    """Something in a graph that raises an `error` while it is armed."""

    def __init__(self, error):
        self.armed, self.error = True, error

    def __call__(self, *gradients):
        if self.armed:
            raise self.error("trap")


def function(x, trap):
    def backward(ctx, g):
        trap()
        return g

    return define(lambda ctx, x: x * 1, backward).apply(x)


def wrong_shape(x, trap):
    def backward(ctx, g):
        return torch.ones(5) if trap.armed else g

    return define(lambda ctx, x: x * 1, backward).apply(x)


def tensor_hook(x, trap):
    x.register_hook(trap)
    return x


def node_hook(x, trap):
    x.grad_fn.register_hook(trap)
    return x


def prehook(x, trap):
    x.grad_fn.register_prehook(trap)
    return x


TRAPS = [
    (function, ArithmeticError),
    (function, KeyboardInterrupt),
    (wrong_shape, RuntimeError),
    (tensor_hook, ArithmeticError),
    (tensor_hook, KeyboardInterrupt),
    (node_hook, ArithmeticError),
    (prehook, ArithmeticError),
]


@pytest.mark.parametrize("insert, error", TRAPS)
def test_a_mended_graph_runs_again(insert, error):
    trap = Trap(error)
    x, w = leaf([2.0, 2.0]), leaf([3.0, 3.0])
    late = insert(x * x, trap)
    root = (late + w * w).sum()  # w * w is the younger: it runs before the trap
    with pytest.raises(error):
        root.backward(retain_graph=True)
    assert x.grad is None and w.grad.tolist() == [6.0, 6.0]
    trap.armed = False
    root.backward()
    assert x.grad.tolist() == [4.0, 4.0] and w.grad.tolist() == [12.0, 12.0]


@pytest.mark.parametrize("insert, error", TRAPS)
def test_other_graphs_run_after_a_failure(insert, error):
    x = leaf([2.0, 3.0])
    with pytest.raises(error):
        insert(x * x, Trap(error)).sum().backward()
    assert torch.is_grad_enabled() and x.grad is None
    (x * x).sum().backward()
    (g,) = torch.autograd.grad((x * x * x).sum(), x)
    assert x.grad.tolist() == [4.0, 6.0] and g.tolist() == [12.0, 27.0]


def test_grad_survives_a_failure_too(monkeypatch):
    x = leaf(2.0)
    y = Fail.apply(x * x)
    with pytest.raises(ArithmeticError):
        torch.autograd.grad(y, x, retain_graph=True, create_graph=True)
    monkeypatch.setattr(Fail, "armed", False)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert g.item() == 4.0 and torch.autograd.grad(g, x)[0].item() == 2.0


def test_a_failure_frees_the_nodes_that_ran(monkeypatch):
    x = leaf(2.0)
    root = Fail.apply(x).exp()
    with pytest.raises(ArithmeticError):
        root.backward()
    monkeypatch.setattr(Fail, "armed", False)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        root.backward()
    assert x.grad is None


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals on this platform")
def test_a_long_backward_can_be_interrupted():
    def interrupt(signum, frame):
        raise KeyboardInterrupt

    x, step = leaf(1.0), torch.tensor(1.0, dtype=torch.float64)
    y = x
    for _ in range(500_000):
        y = y + step
    y.register_hook(lambda g: signal.setitimer(signal.ITIMER_REAL, 0.005) and None)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            y.backward()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert x.grad is None or IS_TORCH  # which looks for signals only when it is done
    x.grad = None
    (x * x).backward()
    assert x.grad.item() == 2.0


@pytest.mark.skipif(IS_TORCH, reason="has no logger of that name")
def test_an_error_before_the_first_node_leaves_no_task_behind(monkeypatch):
    """The thread went on pointing to the task, which was gone: the next backward crashed."""

    class Interrupted:
        def __bool__(self):
            raise KeyboardInterrupt

    x = leaf(2.0)
    y = x * x
    with monkeypatch.context() as patch:
        patch.setattr(logging.getLogger("autograd_cy.autograd.graph"), "level", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            y.backward()
    assert torch._C._current_graph_task_id() == -1
    y.backward()
    assert x.grad.item() == 4.0


@pytest.mark.skipif(IS_TORCH, reason="tells argument types by other means")
def test_an_argument_that_can_not_be_asked_for_its_class_keeps_its_error():
    """It was a SystemError: the result of isinstance() was not looked at."""

    class Evil:
        @property
        def __class__(self):
            raise ArithmeticError("no class")

    x = torch.ones(2)
    for call in (lambda: x.view(Evil()), lambda: x.dtype == Evil(), lambda: torch.ones(2, dtype=Evil())):
        with pytest.raises(ArithmeticError, match="no class"):
            call()


def test_an_error_that_ends_a_gradient_of_many_parts_is_the_one_that_comes_out():
    """The node that stacks them died of the error, emptied its list of edges under it, and a MemoryError came out."""
    x = leaf([1.0, 2.0, 3.0, 4.0])
    h = x.exp()
    a, b, c, d = (h * 1).unbind()
    y = a * b + c * d
    h.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(y, x, create_graph=True)
