"""Leaves that required grad when they were used, and no longer do when backward comes to them: they get no `.grad`."""

import pytest
from common import leaf

import autograd_cy as torch

FREEZE = {
    "requires_grad_(False)": lambda x: x.requires_grad_(False),
    "requires_grad = False": lambda x: setattr(x, "requires_grad", False),
    "detach_()": lambda x: x.detach_(),
}
USES = {
    "alone": lambda x: x * 2,
    "twice": lambda x: x * x + x,
    "as a root": lambda x: x,
    "through a Function": lambda x: Twice.apply(x),
    "one of several outputs": lambda x: x.unbind(0)[0],
    "large": lambda x: x.expand(1 << 14, 2) * 1.0,
}


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


@pytest.mark.parametrize("freeze", FREEZE)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("with_grad", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_frozen_leaf_gets_no_gradient(freeze, use, with_grad, create_graph):
    x, other = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    before = x.grad = torch.ones(2, dtype=torch.float64) if with_grad else None
    y = USES[use](x)
    z = (other * 5).sum() if use == "as a root" else (y * 1).sum() + (other * 5).sum()
    roots, seeds = ([z, y], [None, torch.ones_like(y)]) if use == "as a root" else ([z], None)
    edges = [torch.autograd.graph.get_gradient_edge(root) for root in roots]
    FREEZE[freeze](x)
    seeds = [torch.ones_like(root) for root in roots] if seeds is None else [torch.ones_like(z), seeds[1]]
    torch.autograd.backward(edges, seeds, create_graph=create_graph)
    assert x.grad is before and (before is None or (before.tolist() == [1.0, 1.0] and before._version == 0))
    assert other.grad.tolist() == [5.0, 5.0]


def test_hooks_of_a_frozen_leaf_run():
    x, log = leaf([1.0, 2.0]), []
    y = (x * 2).sum()
    node = torch.autograd.graph.get_gradient_edge(x).node
    x.register_hook(lambda g: log.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad))
    node.register_prehook(lambda g: log.append("pre"))
    node.register_hook(lambda *g: log.append("post"))
    x.requires_grad_(False)
    y.backward()
    assert log == ["tensor", "pre", None, "post"] and x.grad is None


def test_a_frozen_leaf_is_captured_by_its_edge():
    x = leaf([1.0, 2.0])
    y, edge = (x * 2).sum(), torch.autograd.graph.get_gradient_edge(x)
    x.requires_grad_(False)
    assert torch.autograd.grad(y, edge)[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(y, x)


def test_a_leaf_that_was_thawed_gets_its_gradient():
    x = leaf([1.0, 2.0])
    y = (x * 2).sum()
    x.requires_grad_(False)
    x.requires_grad_(True)
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_calling_the_node_of_a_frozen_leaf():
    x = leaf([1.0, 2.0])
    node = torch.autograd.graph.get_gradient_edge(x).node
    x.requires_grad_(False)
    node(torch.ones(2, dtype=torch.float64))
    assert x.grad is None


def test_a_leaf_that_was_frozen_and_written():
    """Unrecorded it stays a leaf; recorded it is none any more, and has nowhere to keep the gradient."""
    x = leaf([1.0, 2.0])
    y = (x + 2).sum()
    x.requires_grad_(False)
    x.mul_(3)
    y.backward()
    assert x.grad is None
    x = leaf([1.0, 2.0])
    y = (x + 2).sum()
    x.requires_grad_(False)
    x.mul_(leaf([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.backward()
    assert x.retains_grad is False
