"""Hooks on every operation, forward and backward. PyTorch has none."""

import numpy as np
import pytest
from common import IS_TORCH, Double, define, in_threads, leaf
from op_calls import Call, each_sample, one_dtype, run_backward, to_numpy
from opinfo import DIFFERENTIABLE

import autograd_cy as torch

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch has none")


def observing(log):
    """Hooks on all operations that note the names of their nodes."""
    return torch.autograd.graph.register_op_hook(
        forward=lambda node, inputs, outputs: log.append(f"> {node.name()}"),
        backward=lambda node, grad_inputs, grad_outputs: log.append(f"< {node.name()}"),
    )


def test_each_operation_is_seen_both_ways():
    log, x = [], leaf(2.0)
    with observing(log):
        (x * 3).exp().backward()
    assert log == ["> MulBackward0", "> ExpBackward0", "< ExpBackward0", "< MulBackward0", "< torch::autograd::AccumulateGrad"]


def test_forward_sees_inputs_and_outputs():
    seen, x = [], leaf([1.0, 2.0])
    with torch.autograd.graph.register_op_hook(forward=lambda *call: seen.append(call)):
        y = x * 3
        parts = y.unbind(0)
    (node, inputs, output), (_, _, outputs) = seen
    assert node is y.grad_fn and inputs[0] is x and inputs[1] is None and output is y
    assert type(outputs) is tuple and outputs[1] is parts[1]


def test_backward_sees_the_gradients_of_both_sides():
    seen, a, b = [], leaf(2.0), leaf(3.0)
    y = a * b
    with torch.autograd.graph.register_op_hook(backward=lambda *call: seen.append(call)):
        y.backward()
    node, grad_inputs, grad_outputs = seen[0]
    assert node is y.grad_fn and [g.item() for g in grad_inputs] == [3.0, 2.0] and grad_outputs[0].item() == 1.0
    assert [(inputs, outputs[0].item()) for _, inputs, outputs in seen[1:]] == [((), 3.0), ((), 2.0)]


def test_operations_that_are_not_recorded_are_seen():
    log = []
    with observing(log), torch.no_grad():
        y = leaf(2.0) * 3
        torch.ones(2).exp().sum()
    assert log == ["> MulBackward0", "> ExpBackward0", "> SumBackward0"] and not y.requires_grad


def test_functions_are_seen_and_what_they_call():
    log, x = [], leaf(2.0)
    with observing(log):
        Double.apply(x).backward()
    forward = ["> MulBackward0", "> DoubleBackward", "> MulBackward0"]
    assert log == [*forward, "< DoubleBackward", "< torch::autograd::AccumulateGrad"]


def test_rules_are_seen_under_create_graph_only():
    x = leaf(2.0)
    for create_graph, expected in ((False, 0), (True, 1)):
        log, y = [], x.exp()
        with observing(log):
            torch.autograd.grad(y, x, create_graph=create_graph)
        assert len([word for word in log if word.startswith(">")]) == expected


def test_what_hooks_compute_is_not_seen():
    log, x = [], leaf(2.0)
    with torch.autograd.graph.register_op_hook(
        forward=lambda node, inputs, output: log.append((output * 2).item()),
        backward=lambda node, grad_inputs, grad_outputs: log.append((grad_outputs[0] * 2).item()),
    ):
        (x * 3).backward()
    assert log == [12.0, 2.0, 6.0]


def test_what_hooks_return_is_ignored():
    x = leaf(2.0)
    with torch.autograd.graph.register_op_hook(lambda *call: (7,), lambda *call: (7,)):
        y = x * 3
        y.backward()
    assert y.item() == 6.0 and x.grad.item() == 3.0


def test_several_hooks_and_their_ends():
    log, x = [], leaf(2.0)
    first, second = ([torch.autograd.graph.register_op_hook(lambda *call, i=i: log.append(i)) for i in range(2)])
    x * 3
    first.remove()
    first.remove()
    x * 3
    second.remove()
    x * 3
    assert log == [0, 1, 1]


def test_a_hook_may_remove_itself():
    log, x = [], leaf(2.0)
    handle = torch.autograd.graph.register_op_hook(lambda *call: log.append(1) or handle.remove())
    x * 3
    x * 3
    assert log == [1]


def test_what_a_hook_raises_comes_out_of_the_operation():
    def fail(*call):
        raise ArithmeticError("mine")

    x = leaf(2.0)
    with torch.autograd.graph.register_op_hook(fail), pytest.raises(ArithmeticError, match="mine"):
        x * 3
    y = x * 3
    with torch.autograd.graph.register_op_hook(backward=fail), pytest.raises(ArithmeticError, match="mine"):
        y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 3.0


def test_another_thread_is_not_observed():
    log, x = [], leaf(2.0)
    with observing(log):
        in_threads(1, lambda _: (x * 3).backward())
    assert log == []


def test_a_nested_backward_is_observed_at_any_depth():
    log = []

    def forward(ctx, x, levels):
        ctx.levels = levels
        return x

    def backward(ctx, g):
        if ctx.levels:
            with torch.enable_grad():
                F.apply(leaf(1.0), ctx.levels - 1).backward()
        return g, None

    F = define(forward, backward)
    with observing(log):
        F.apply(leaf(1.0), 60).backward()
    assert log.count("< FBackward") == 61 and log.count("> FBackward") == 61


def test_retained_graphs_and_freed_ones_stay_what_they_are():
    x = leaf(2.0)
    y = x.exp()
    with torch.autograd.graph.register_op_hook(backward=lambda *call: None):
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            y.backward()


@pytest.mark.parametrize("hooks", [(3, None), (None, "no"), (None, None)])
def test_hooks_are_functions(hooks):
    with pytest.raises(TypeError):
        torch.autograd.graph.register_op_hook(*hooks)


@each_sample(DIFFERENTIABLE, one_dtype)
def test_operations_compute_the_same_when_observed(row, sample):
    """Values and gradients of each operation, with hooks that do nothing and without."""
    call = Call(row, sample, torch)
    plain = run_backward(call)
    seen = []
    with torch.autograd.graph.register_op_hook(lambda *c: seen.append(c), lambda *c: None):
        observed = run_backward(call)
    for found, expected in zip(observed[3], plain[3], strict=True):
        np.testing.assert_allclose(to_numpy(found), to_numpy(expected), rtol=1e-5, atol=1e-6)
    leaves = call.leaves()
    assert seen or any(y is x for y in call(*leaves) for x in leaves)  # what is returned as it is
