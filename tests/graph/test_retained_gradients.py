"""The `.grad` that retain_grad() keeps, and that of leaves: memory of its own, and a graph of its own under create_graph."""

import itertools

import pytest
from common import leaf

import autograd_cy as torch

pytestmark = pytest.mark.filterwarnings("ignore:Using backward")

TENSORS = {
    "leaf": lambda x: x,
    "computed": lambda x: x * 2,
    "view": lambda x: (x * 2).t(),
    "transposed in memory": lambda x: x.t().clone(),
    "one of several outputs": lambda x: torch.stack([x, x]).unbind(0)[0],
}


def seeds(shape):
    """Seeds of several kinds, which backward must leave alone."""
    plain = torch.arange(6.0, dtype=torch.float64).reshape(shape)
    wide = torch.arange(6.0, dtype=torch.float64).reshape(shape[::-1]).t()
    return {
        "plain": plain,
        "strided": wide,
        "expanded": torch.ones(1, 1, dtype=torch.float64).expand(shape),
        "leaf": plain.clone().requires_grad_(),
        "computed": wide.clone().requires_grad_() * 2,
    }


CASES = list(itertools.product(TENSORS, seeds((2, 3)), (False, True), ("none", "hook", "root twice")))


@pytest.mark.parametrize("kind, seed_kind, create_graph, besides", CASES)
def test_grad_shares_memory_with_nobody(kind, seed_kind, create_graph, besides):
    """A retained `.grad` was the seed itself under create_graph."""
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y, seen = TENSORS[kind](x), []
    y.retain_grad()
    seed = seeds(tuple(y.shape))[seed_kind]
    before = seed.detach().clone()
    if besides == "hook":
        y.register_hook(seen.append)
    roots = [y, y] if besides == "root twice" else [y]
    torch.autograd.backward(roots, [seed] * len(roots), create_graph=create_graph)
    assert y.grad.tolist() == (before * len(roots)).tolist()
    assert y.grad.requires_grad == (create_graph and seed.requires_grad)
    with torch.no_grad():
        y.grad.zero_()
        if x is not y:
            x.grad.zero_()
    assert seed.tolist() == before.tolist() and all(g.tolist() == before.tolist() for g in seen)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_second_backward_adds(create_graph):
    """To a retained gradient out of place, to that of a leaf in place unless it is recorded."""
    x = leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    seed = torch.ones(2, dtype=torch.float64)
    y.backward(seed, retain_graph=True, create_graph=create_graph)
    first, of_leaf = y.grad, x.grad
    y.backward(seed, retain_graph=True, create_graph=create_graph)
    assert y.grad is not first and first.tolist() == [1.0, 1.0] and y.grad.tolist() == [2.0, 2.0]
    assert (x.grad is of_leaf) == (not create_graph) and x.grad.tolist() == [4.0, 4.0]


def test_nodes_of_recorded_gradients():
    x = leaf([1.0, 2.0])
    y = x * x
    y.retain_grad()
    seed = leaf([1.0, 1.0])
    y.backward(seed, create_graph=True)
    assert y.grad.grad_fn.name() == "CloneBackward0"
    assert x.grad.grad_fn.name() == "torch::autograd::CopyBackwards" and x.grad.grad_fn.next_functions[0] == (None, 0)
    y.backward(seed, create_graph=True)
    assert y.grad.grad_fn.name() == x.grad.grad_fn.name() == "AddBackward0"
    assert torch.autograd.grad(x.grad.sum(), seed)[0].tolist() == [4.0, 8.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_layout_of_grad(create_graph):
    """That of the leaf if its elements are dense, else C order."""
    base = torch.arange(12.0, dtype=torch.float64).reshape(3, 4)
    for x, strides in ((base, (4, 1)), (base.t(), (1, 4)), (base[:, :2], (2, 1)), (base[::2], (4, 1))):
        x = x.detach().requires_grad_()
        (x * x).sum().backward(create_graph=create_graph)
        assert x.grad.stride() == strides and x.grad.tolist() == (2 * x).tolist()


def test_a_view_that_is_written_with_what_was_computed_of_it_retains_nothing_of_before():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    v = y[::2]
    v.retain_grad()
    v.copy_(v.flip(0))
    y.square().sum().backward()
    assert v.retains_grad and v.grad is None
