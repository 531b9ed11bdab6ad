"""Backward inside backward: in Functions and hooks, hundreds of levels deep, on small stacks, with errors and Ctrl-C."""

import signal
import subprocess
import sys
import threading

import pytest
from common import IS_TORCH, define, differs, in_threads, leaf

import autograd_cy as torch

DEEP = 300
SMALL_STACK = 256 * 1024


class Nested(torch.autograd.Function):
    """The identity, whose backward runs a backward, so many levels deep; `innermost` is called at the end."""

    innermost = staticmethod(lambda: None)

    @staticmethod
    def forward(ctx, x, levels):
        ctx.levels = levels
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        if ctx.levels == 0:
            Nested.innermost()
        else:
            with torch.enable_grad():
                Nested.apply(leaf([1.0, 2.0]), ctx.levels - 1).sum().backward()
        return g, None


@pytest.fixture
def innermost():
    """Sets what the innermost level calls."""
    before = Nested.innermost

    def set_function(function):
        Nested.innermost = staticmethod(function)

    yield set_function
    Nested.innermost = before


def through_functions(levels):
    x = leaf([1.0, 2.0])
    Nested.apply(x, levels).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def through_tensor_hooks(levels):
    x = leaf(1.0)

    def hook(g):
        if levels:
            with torch.enable_grad():
                through_tensor_hooks(levels - 1)

    y = x * 2
    y.register_hook(hook)
    y.backward()
    assert x.grad.item() == 2.0


def through_node_hooks(levels):
    x = leaf(1.0)

    def hook(*gradients):
        if levels:
            with torch.enable_grad():
                through_node_hooks(levels - 1)

    y = x * 2
    y.grad_fn.register_hook(hook)
    y.backward()
    assert x.grad.item() == 2.0


def through_accumulators(levels):
    x = leaf(1.0)

    def hook(t):
        if levels:
            with torch.enable_grad():
                through_accumulators(levels - 1)

    x.register_post_accumulate_grad_hook(hook)
    (x * 2).backward()
    assert x.grad.item() == 2.0


WAYS = [through_functions, through_tensor_hooks, through_node_hooks, through_accumulators]


@pytest.mark.parametrize("way", WAYS)
def test_hundreds_of_levels(way):
    way(DEEP)


@pytest.mark.parametrize("way", WAYS)
def test_hundreds_of_levels_on_a_small_stack(way):
    in_threads(1, lambda _: way(DEEP), SMALL_STACK)


def test_hundreds_of_levels_in_several_threads():
    in_threads(3, lambda _: through_functions(100))


@pytest.mark.parametrize("levels", [0, 30])
def test_the_graph_that_runs_may_be_run_again_inside(levels):
    x = leaf(3.0)
    y = x * x
    runs = []

    def again(g):
        if len(runs) < levels + 1:
            runs.append(1)
            y.backward(retain_graph=True)

    y.register_hook(again)
    y.backward(retain_graph=True)
    assert x.grad.item() == 6.0 * (levels + 2)


@pytest.mark.parametrize("levels", [1, 50])
def test_the_innermost_level_has_the_modes_of_the_outermost(levels, innermost):
    seen = []
    innermost(lambda: seen.append((torch.is_grad_enabled(), threading.current_thread() is threading.main_thread())))
    through_functions(levels)
    assert seen[0][0] is False and (seen[0][1] is (levels == 1) or IS_TORCH)


def test_create_graph_through_many_levels():
    def cube(ctx, g):
        return (g * 3 * ctx.saved_tensors[0] ** 2,)

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    Cube = define(forward, cube)

    def slope(x, levels):
        """The derivative of x**3, computed inside so many other backwards."""
        if levels == 0:
            return torch.autograd.grad(Cube.apply(x), x, create_graph=True)[0]
        found = []
        y = x * 1

        def hook(g):
            with torch.enable_grad():
                found.append(slope(x, levels - 1))

        y.register_hook(hook)
        torch.autograd.grad(y, x)
        return found[0]

    x = leaf(2.0)
    g = slope(x, 50)
    assert g.item() == 12.0
    assert torch.autograd.grad(g, x)[0].item() == 12.0


def test_what_is_recorded_deep_inside_comes_after_what_is_recorded_outside(innermost):
    nodes = [(leaf(1.0) * 2).grad_fn]

    def record():
        with torch.enable_grad():
            nodes.append((leaf(1.0) * 2).grad_fn)

    innermost(record)
    through_functions(50)
    nodes.append((leaf(1.0) * 2).grad_fn)
    numbers = [node._sequence_nr() for node in nodes]
    assert numbers == sorted(numbers) or IS_TORCH


class Odd(Exception):
    """An exception of the user's own."""


@pytest.mark.parametrize("error", [ValueError, Odd, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("levels", [1, 100])
def test_an_exception_comes_out_as_it_is(error, levels, innermost):
    raised = error("mine")

    def fail():
        raise raised

    innermost(fail)
    with pytest.raises(error) as caught:
        through_functions(levels)
    assert IS_TORCH or caught.value is raised
    innermost(lambda: None)
    through_functions(levels)


@differs("what errors tell", "adds no notes")
def test_the_notes_of_an_exception_name_the_nodes(innermost):
    def fail():
        raise ValueError("mine")

    innermost(fail)
    with pytest.raises(ValueError, match="mine") as caught:
        through_functions(50)
    assert len(caught.value.__notes__) == 51
    assert all("NestedBackward" in note for note in caught.value.__notes__)


INTERRUPTED = """
import signal, sys, threading, time
sys.path[:0] = {path!r}
from test_reentrant import Nested, through_functions

signal.signal(signal.SIGINT, signal.default_int_handler)    # jobs in the background of a shell ignore it

def innermost():
    threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
    for _ in range(600):
        time.sleep(0.05)

Nested.innermost = staticmethod(innermost)
started = time.monotonic()
try:
    through_functions({levels})
except KeyboardInterrupt:
    Nested.innermost = staticmethod(lambda: None)
    through_functions({levels})
    print("interrupted", time.monotonic() - started < 20)
"""


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
@pytest.mark.parametrize("levels", [3, 70])
def test_ctrl_c_reaches_the_innermost_level(levels):
    script = INTERRUPTED.format(path=sys.path, levels=levels)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert found.stdout.split() == ["interrupted", "True"], found.stderr
