"""Backward through a freed graph: which backward freed it, and what ties it to the new one."""

import pytest
from common import IS_TORCH, SaveBoth, leaf

import autograd_cy as torch

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch says only that it was freed")
SECOND = "Trying to backward through the graph a second time .*Specify retain_graph=True"


def message(work):
    with pytest.raises(RuntimeError, match=SECOND) as info:
        work()
    return str(info.value)


def step(loss):
    loss.backward()


def recur(w, h):
    return torch.tanh(w * h)


def test_the_same_loss_twice():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    step(y)
    text = message(y.backward)
    assert "It was MulBackward0 (recorded at " in text and "in test_the_same_loss_twice)" in text
    assert "by the backward at " in text and "test_second_backward.py:" in text and "in step." in text
    assert "starts from the same graph: give the first one retain_graph=True" in text


def test_a_hidden_state_that_is_carried_on():
    w = leaf([0.5])
    h = leaf([1.0])
    h = recur(w, h)
    step(h.sum())
    after = (h * 2 + w).sum()
    text = message(after.backward)
    assert "It was TanhBackward0" in text and "in recur)" in text and "in step." in text
    assert "ties that graph to the new one: output 0 of TanhBackward0 (recorded at " in text
    assert "used by MulBackward0 (recorded at " in text and "in test_a_hidden_state_that_is_carried_on)" in text
    assert "detach() it" in text


def test_detaching_there_helps():
    w = leaf([0.5])
    h = recur(w, leaf([1.0]))
    step(h.sum())
    step((h.detach() * 2 + w).sum())


def test_the_tie_may_be_far_from_what_was_freed():
    w = leaf([0.5])
    old = recur(w, leaf([1.0])) + 1          # the addition saves nothing
    step(old.sum())
    new = (old + 1).exp() * w
    text = message(new.sum().backward)
    assert "It was TanhBackward0" in text
    assert "output 0 of AddBackward0" in text and "used by AddBackward0" in text


def test_the_output_number_is_told():
    x = leaf([1.0, 2.0])
    _, b = (x * x).unbind()
    step(b)
    text = message(lambda: (b * 3).backward())
    assert "output 1 of UnbindBackward0" in text


def test_the_last_backward_is_named():
    x = leaf([1.0])
    first, second = x.exp(), x.exp()
    first.backward()

    def other():
        second.backward()

    other()
    assert "in test_the_last_backward_is_named." in message(first.backward)
    assert ".other." in message(second.backward)


def test_grad_is_named_as_well():
    x = leaf(2.0)
    y = x * x

    def ask():
        return torch.autograd.grad(y, x)

    ask()
    assert "by the backward at " in message(y.backward) and ".ask." in message(y.backward)


def test_a_function():
    x = leaf([1.0])
    y = SaveBoth.apply(x)
    step(y)
    text = message(lambda: (y + 1).backward())
    assert "SaveBothBackward" in text and "in step." in text and "used by AddBackward0" in text


def test_saved_attributes_after_the_backward():
    x = leaf(2.0)
    y = x * x
    step(y)
    text = message(lambda: y.grad_fn._saved_self)
    assert "It was MulBackward0" in text and "in step." in text and "ties" not in text


def test_many_backwards_later():
    x = leaf(2.0)
    y = x * x
    step(y)
    for _ in range(2000):
        (x * 2).backward()
    text = message(y.backward)
    assert "whose saved values are freed." in text and "by the backward at" not in text


def test_what_saved_nothing_can_be_used_again():
    x = leaf(2.0)
    y = x + 1
    y.backward()
    y.backward()
    assert x.grad.item() == 2.0


def test_a_long_graph_is_searched_without_recursion():
    x = leaf(1.0)
    y = x * x
    step(y)
    for _ in range(100_000):
        y = y + 1
    text = message(y.backward)
    assert "output 0 of MulBackward0" in text and "used by AddBackward0" in text


def test_two_backwards_over_a_sum_with_a_factor():
    """`add(alpha=2)` keeps no tensor, so its graph can be walked twice, retained or not."""
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    total = torch.add(x, y, alpha=2).sum()
    total.backward()
    total.backward()
    assert x.grad.tolist() == [2, 2] and y.grad.tolist() == [4, 4]


@pytest.mark.parametrize("name", ["relu", "nll_loss"])
def test_what_is_linear_differentiated_twice_is_zero(name):
    x = leaf([1.0, -2.0])
    loss = x.relu().sum() if name == "relu" else torch.nn.functional.nll_loss(x[None], torch.tensor([0]))
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    assert torch.autograd.grad(g.sum(), x, allow_unused=True, materialize_grads=True)[0].tolist() == [0, 0]
