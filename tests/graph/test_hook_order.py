"""In which order hooks fire, which of them grad() and backward(inputs=...) fire, and what removing one meanwhile does."""

import pytest
from common import define, leaf

import autograd_cy as torch

swallow = define(lambda ctx, x: x * 1, lambda ctx, g: None)  # no gradient for its input


def say(log, word):
    """A hook of any kind that notes a word."""

    def hook(*gradients):
        log.append(word)

    return hook


def hooked(log, x, y):
    """All kinds of hooks on a leaf and on a tensor computed from it; registered in another order than they fire."""
    accumulator = torch.autograd.graph.get_gradient_edge(x).node
    accumulator.register_hook(say(log, "accumulator post"))
    x.register_post_accumulate_grad_hook(say(log, "post accumulate"))
    accumulator.register_prehook(say(log, "accumulator pre"))
    x.register_hook(say(log, "leaf"))
    y.grad_fn.register_hook(say(log, "node post"))
    y.retain_grad()
    y.grad_fn.register_prehook(say(log, "node pre"))
    y.register_hook(say(log, "tensor 1"))
    y.register_hook(say(log, "tensor 2"))
    return accumulator  # the hooks of PyTorch's are lost with the node


OF_Y = ["tensor 1", "tensor 2", "node pre", "node post"]
OF_X = ["leaf", "accumulator pre", "post accumulate", "accumulator post"]


def test_the_order_of_all_kinds():
    log, x = [], leaf([1.0, 2.0])
    y = x * 2
    held = hooked(log, x, y)
    y.sum().backward()
    assert log == OF_Y + OF_X and held is not None


RUNS = {
    "backward": (lambda z, x, y: z.backward(), OF_Y + OF_X),
    "backward(inputs=leaf)": (lambda z, x, y: z.backward(inputs=[x]), OF_Y + OF_X),
    "backward(inputs=computed)": (lambda z, x, y: z.backward(inputs=[y]), OF_Y),
    "grad(leaf)": (lambda z, x, y: torch.autograd.grad(z, x), [*OF_Y, "leaf"]),
    "grad(computed)": (lambda z, x, y: torch.autograd.grad(z, y), ["tensor 1", "tensor 2"]),
    "grad(both)": (lambda z, x, y: torch.autograd.grad(z, [x, y]), [*OF_Y, "leaf"]),
    "create_graph": (lambda z, x, y: torch.autograd.grad(z, x, create_graph=True), [*OF_Y, "leaf"]),
}


@pytest.mark.parametrize("run", RUNS)
def test_what_fires_for_what_was_asked(run):
    call, expected = RUNS[run]
    log, x = [], leaf([1.0, 2.0])
    y = x * 2
    held = hooked(log, x, y)
    call(y.sum(), x, y)
    assert log == expected and held is not None


def test_hooks_fire_with_none_where_there_is_no_gradient():
    log, x = [], leaf([1.0, 2.0])
    y = x * 2
    held = hooked(log, x, y)
    swallow.apply(y).sum().backward()
    assert log == OF_Y + OF_X and held is not None
    assert x.grad is None and y.grad is None


def test_hooks_see_none_where_there_is_no_gradient():
    seen, x = [], leaf([1.0, 2.0])
    x.register_hook(lambda g: seen.append(g))
    y = x * 2
    y.grad_fn.register_prehook(lambda outputs: seen.append(outputs))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs))
    swallow.apply(y).sum().backward()
    assert seen == [(None,), (None, None), None]


def test_hooks_of_an_unused_output_see_none():
    seen, parts = [], leaf([1.0, 2.0]).unbind(0)
    parts[0].register_hook(lambda g: seen.append(g))
    parts[1].backward()
    assert seen == [None]


def test_no_hook_makes_a_gradient_where_there_is_none():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda g: torch.ones(2, dtype=torch.float64))
    z = swallow.apply(y).sum()
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        z.backward()


def test_a_node_hook_makes_no_gradient_where_there_is_none():
    y = leaf([1.0, 2.0]) * torch.ones(2, dtype=torch.float64)
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], outputs[0]))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        y.sum().backward()


def test_a_node_hook_sees_none_for_what_nobody_asked_for():
    x, w, seen = leaf(2.0), leaf(3.0), []
    y = x * w
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs))
    torch.autograd.grad(y, x)
    assert seen == [(torch.tensor(3.0), None)]


def test_what_was_asked_for_is_kept_as_its_hooks_left_it():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    (g,) = torch.autograd.grad(y * 1, y)
    assert g.item() == 10.0


def test_what_was_asked_for_and_is_needed_further_is_kept_as_it_came():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    of_y, of_x = torch.autograd.grad(y * 1, [y, x])
    assert (of_y.item(), of_x.item()) == (1.0, 20.0)


# Removing and adding while it runs


def test_a_tensor_hook_removed_by_an_earlier_one_fires_this_time_still():
    log, handles, x = [], [], leaf(1.0)
    x.register_hook(lambda g: log.append("first") or handles[0].remove())
    handles.append(x.register_hook(say(log, "removed")))
    for _ in range(2):
        (x * 2).backward()
    assert log == ["first", "removed", "first"]


@pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
def test_a_node_hook_removed_by_an_earlier_one_fires_this_time_still(register):
    log, handles, y = [], [], leaf(1.0) * 2
    getattr(y.grad_fn, register)(lambda *g: log.append("first") or handles[0].remove())
    handles.append(getattr(y.grad_fn, register)(say(log, "removed")))
    for _ in range(2):
        y.backward(retain_graph=True)
    assert log == ["first", "removed", "first"]


def test_a_hook_added_by_an_earlier_one_fires_next_time():
    log, x = [], leaf(1.0)
    x.register_hook(lambda g: log.append("first") or (x.register_hook(say(log, "added")) and None))
    (x * 2).backward()
    assert log == ["first"]
    (x * 2).backward()
    assert log == ["first", "first", "added"]


def test_hooks_of_several_outputs_run_in_the_order_in_which_these_got_their_first():
    """They ran in the order of the outputs."""
    log = []
    first, second, third = leaf([1.0, 2.0, 3.0]).unbind()
    for name, y in {"third": third, "first": first, "third again": third, "second": second}.items():
        y.register_hook(say(log, name))
    (first + second + third).backward()
    assert log == ["third", "third again", "first", "second"]


# Retained gradients


def test_retain_grad_comes_last_whenever_it_was_called():
    y = leaf(1.0) * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.register_hook(lambda g: g * 3)
    (y * 1).backward()
    assert y.grad.item() == 6.0


def test_grad_fills_what_is_retained_on_the_way():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    torch.autograd.grad(y * 3, x)
    assert y.grad.item() == 3.0
