"""Hooks on several tensors: once in each backward, with all gradients or with the first."""

import pytest
from common import Fail, differs, in_threads, leaf

import autograd_cy as torch

register = torch.autograd.graph.register_multi_grad_hook


def values(gradients):
    return [None if g is None else g.item() for g in gradients]


def test_all_fires_once_in_each_backward_with_none_for_the_absent():
    a, b, c, seen = leaf(1.0), leaf(1.0), leaf(1.0), []
    handle = register([a, b, c], lambda gradients: seen.append(values(gradients)))
    (a * 2 + b * 3).backward()
    (a * 2).backward()
    (a * 2 + b + c).backward()
    assert seen == [[2.0, 3.0, None], [2.0, None, None], [2.0, 1.0, 1.0]]
    handle.remove()
    (a * 2).backward()
    assert len(seen) == 3


def test_all_waits_for_what_the_inputs_lead_to_only():
    x, w, seen = leaf(1.0), leaf(1.0), []
    y, v = x * 2, w * 3
    z = v * y
    register([w, x, v, z], lambda gradients: seen.append(values(gradients)))
    root = z * 1
    root.backward(inputs=[x], retain_graph=True)
    root.backward(inputs=[w])
    assert seen == [[None, 6.0, None, 1.0], [6.0, None, 2.0, 1.0]]


@differs("multi-grad hooks", "does not count the root, and so fires too early")
def test_all_counts_the_root():
    x, seen = leaf(1.0), []
    y = x * 2
    z = leaf(1.0) * y
    register([x, y, z], lambda gradients: seen.append(values(gradients)))
    z.backward(inputs=[y])
    assert seen == [[None, 1.0, 1.0]]


def test_any_fires_with_the_first_gradient():
    a, b, seen = leaf(1.0), leaf(1.0), []
    register([a, b], lambda g: seen.append(g.item()), mode="any")
    (a * 2).backward()
    (b * 3).backward()
    (a * 5 + b * 5).backward()
    assert seen == [2.0, 3.0, 5.0]


def test_any_fires_once_for_a_tensor_that_is_named_twice():
    """Both of its hooks saw the same gradient, which counted as the first one each time."""
    a, seen = leaf(1.0), []
    register([a, a], lambda g: seen.append(g.item()), mode="any")
    (a * 2).backward()
    assert seen == [2.0]


def test_any_leaves_out_tensors_without_gradient():
    a, seen = leaf(1.0), []
    register([torch.ones(1), a], lambda g: seen.append(g.item()), mode="any")
    (a * 2).backward()
    assert seen == [2.0]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_what_it_returns_is_ignored(mode):
    a = leaf(1.0)
    register([a], lambda g: 3, mode=mode)
    (a * 2).backward()
    assert a.grad.item() == 2.0


@pytest.mark.parametrize("mode", ["all", "any"])
def test_nothing_to_wait_for(mode):
    with register([], print, mode=mode) as handle:
        (leaf(1.0) * 2).backward()
    handle.remove()


def test_a_backward_inside_is_counted_by_itself():
    a, seen = leaf(1.0), []
    register([a], lambda gradients: seen.append(values(gradients)))

    def again(g):
        if len(seen) < 2:
            with torch.enable_grad():
                (a * 7).backward()

    y = a * 2
    y.register_hook(again)
    y.backward()
    assert seen == [[7.0], [2.0]]


def test_each_thread_is_counted_by_itself():
    a, b, seen = leaf(1.0), leaf(1.0), []
    register([a, b], lambda gradients: seen.append(sorted(values(gradients))))
    in_threads(4, lambda number: [(a * 2 + b * 3).backward() for _ in range(20)])
    assert seen == [[2.0, 3.0]] * 80


def test_after_a_backward_that_failed_it_fires_again():
    a, b, seen = leaf(1.0), leaf(1.0), []
    register([a, b], lambda gradients: seen.append(values(gradients)))
    with pytest.raises(ArithmeticError):
        (b * 3 + Fail.apply(a)).backward()
    (a * 2 + b * 3).backward()
    assert seen[-1] == [2.0, 3.0]


def test_the_mode_is_checked():
    with pytest.raises(ValueError, match=r"Expects mode to be one of \('all', 'any'\)"):
        register([leaf(1.0)], print, mode="some")


def test_a_tensor_without_gradient_is_refused_before_anything_is_registered():
    a = leaf(1.0)
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        register([a, torch.ones(1)], print)
    assert not a._backward_hooks


@differs("multi-grad hooks", "refuses a leaf under grad()")
def test_all_under_grad():
    a, seen = leaf(1.0), []
    y = a * 2
    register([a, y], lambda gradients: seen.append(values(gradients)))
    torch.autograd.grad(y * 3, a)
    assert seen == [[6.0, 3.0]]
