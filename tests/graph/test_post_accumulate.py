"""Hooks that are called when a leaf's .grad has been added to; the hooks of AccumulateGrad."""

import pytest
from common import differs, leaf

import autograd_cy as torch

node_of = lambda x: torch.autograd.graph.get_gradient_edge(x).node  # noqa: E731


def test_it_sees_the_leaf_with_the_new_sum():
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.item())))
    for _ in range(2):
        (x * 3).backward()
    assert seen == [(True, 3.0), (True, 6.0)]


def test_it_may_clear_the_gradient():
    x = leaf(2.0)

    def step(t):
        with torch.no_grad():
            t.sub_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    assert x.grad is None and x.item() == -1.0


def test_it_fires_once_on_the_sum_of_all_uses():
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 3 + x * x).backward()
    assert seen == [7.0]


def test_several_fire_in_order_until_removed():
    x, log = leaf(2.0), []
    first = x.register_post_accumulate_grad_hook(lambda t: log.append("first"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("second"))
    (x * 3).backward()
    first.remove()
    (x * 3).backward()
    assert log == ["first", "second", "second"]


def test_grad_does_not_fire_it():
    x, log = leaf(2.0), []
    x.register_post_accumulate_grad_hook(log.append)
    torch.autograd.grad(x * 3, x)
    assert log == []
    (x * 3).backward(inputs=[x])
    assert len(log) == 1


@pytest.mark.filterwarnings("ignore:.*reference cycle")
def test_it_fires_under_create_graph():
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t.grad.requires_grad, torch.is_grad_enabled())))
    (x * x).backward(create_graph=True)
    x.grad = None
    assert seen == [(True, True)]


def test_what_it_raises_comes_out_after_the_sum():
    x = leaf(2.0)

    def fail(t):
        raise ValueError("mine")

    handle = x.register_post_accumulate_grad_hook(fail)
    with pytest.raises(ValueError, match=r"^mine"):
        (x * 3).backward()
    assert x.grad.item() == 3.0
    handle.remove()
    (x * 3).backward()
    assert x.grad.item() == 6.0


def test_it_returns_nothing():
    x = leaf(2.0)
    x.register_post_accumulate_grad_hook(lambda t: t.grad * 2)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks should return None"):
        (x * 3).backward()


def test_computed_tensors_take_none():
    y = leaf(2.0) * 1
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        y.register_post_accumulate_grad_hook(print)


def test_tensors_without_gradient_take_none():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(1).register_post_accumulate_grad_hook(print)


@differs("a hook or callback", "takes anything for a hook and fails in backward")
@pytest.mark.parametrize("register", ["register_hook", "register_post_accumulate_grad_hook"])
def test_a_hook_is_callable(register):
    with pytest.raises(TypeError, match="a hook must be callable, not int"):
        getattr(leaf(1.0), register)(3)


# AccumulateGrad


def test_a_prehook_may_replace_what_is_added():
    x = leaf([1.0, 2.0])
    node = node_of(x)
    node.register_prehook(lambda outputs: (outputs[0] * 10,))
    (x * 2).sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


def test_a_prehook_may_keep_it_from_being_added():
    x = leaf([1.0, 2.0])
    node = node_of(x)
    node.register_prehook(lambda outputs: (None,))
    (x * 2).sum().backward()
    assert x.grad is None


def test_a_hook_sees_no_inputs_and_replaces_none():
    x, seen = leaf([1.0, 2.0]), []
    node = node_of(x)
    node.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].tolist())))
    (x * 2).sum().backward()
    assert seen == [((), [2.0, 2.0])]
    node.register_hook(lambda inputs, outputs: (outputs[0],))
    with pytest.raises(RuntimeError, match=r"incorrect number of values \(got 1, but expected 0\)"):
        (x * 2).sum().backward()


def test_the_hooks_of_a_leaf_run_in_order():
    """A post hook got the gradient from before the post-accumulate hooks: the result was -2, not 3."""
    x = leaf([1.0, 2.0, 3.0])
    node = node_of(x)
    x.register_hook(lambda g: g - 2)
    node.register_prehook(lambda outputs: (outputs[0] / 5,))
    x.register_post_accumulate_grad_hook(lambda x: x.grad.add_(0.5) is None or None)
    node.register_hook(lambda inputs, outputs: setattr(x, "grad", outputs[0] * 10))
    x.sum().backward()
    torch.testing.assert_close(x.grad, torch.full((3,), 3.0, dtype=torch.float64))


def test_a_post_hook_sees_the_gradient_though_it_was_taken():
    x, seen = leaf([1.0, 2.0]), []
    node = node_of(x)
    x.register_post_accumulate_grad_hook(lambda x: setattr(x, "grad", None))
    node.register_hook(lambda inputs, outputs: seen.append(outputs[0].tolist()))
    (x * 2).sum().backward()
    x.grad = torch.ones(2, dtype=torch.float64)
    (x * 3).sum().backward()
    assert seen == [[2.0, 2.0], [3.0, 3.0]] and x.grad is None


def test_the_gradient_that_hooks_saw_is_not_the_memory_of_grad():
    x, kept = leaf([1.0, 2.0]), []
    node = node_of(x)
    node.register_prehook(lambda outputs: kept.append(outputs[0]))
    (x * 2).sum().backward()
    x.grad.fill_(7.0)
    assert kept[0].tolist() == [2.0, 2.0]


@differs("hooks on the AccumulateGrad", "loses the hooks with the node")
def test_the_hooks_of_an_accumulator_live_as_long_as_the_leaf():
    x, log = leaf([1.0, 2.0]), []
    node_of(x).register_hook(lambda inputs, outputs: log.append("called"))
    (x * 2).sum().backward()
    assert log == ["called"]
