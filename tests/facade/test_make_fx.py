"""make_fx(): what a function does with its tensors as a graph of overloads."""

import pytest

import autograd_cy as torch
from autograd_cy.fx.experimental.proxy_tensor import make_fx


def test_operations_of_a_function():
    def function(x, y):
        a, b = (x * y + 1).exp().split(1)
        return {"sum": (a - b).sum(dim=0)}, torch.zeros(1) + a

    x, y = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 1.5])
    traced = make_fx(function)(x, y)
    assert [str(n.target) for n in traced.graph.nodes][:5] == [
        "x_1", "y_1", "aten.mul.Tensor", "aten.add.Tensor", "aten.exp.default",
    ]  # fmt: skip
    for inputs in ((x, y), (y, x)):
        (found, other), (expected, second) = traced(*inputs), function(*inputs)
        assert torch.equal(found["sum"], expected["sum"]) and torch.equal(other, second)


def test_parameters_and_other_tensors_are_attributes():
    linear, shift = torch.nn.Linear(2, 2), torch.ones(2)
    traced = make_fx(lambda x: linear(x) + shift)(torch.zeros(1, 2))
    assert {n.target for n in traced.graph.find_nodes(op="get_attr")} == {
        "_param_constant0", "_param_constant1", "_tensor_constant0",
    }  # fmt: skip
    x = torch.tensor([[1.0, 2.0]])
    assert torch.equal(traced(x), linear(x) + shift)


def test_what_is_written_in_place():
    def function(x):
        y = x * 2
        y.add_(1)
        return y

    assert make_fx(function)(torch.zeros(2))(torch.ones(2)).tolist() == [3.0, 3.0]


def test_gradients_are_refused():
    def function(x):
        x = x.detach().requires_grad_()
        (g,) = torch.autograd.grad((x * x).sum(), x)
        return g * 2

    with pytest.raises(NotImplementedError, match="sees the calls of operations"):
        make_fx(function)(torch.ones(2))
