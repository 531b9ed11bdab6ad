"""make_fx(): what a function does with its tensors as a graph of overloads."""

import copy
import pickle

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


def test_arguments_that_hold_several_tensors():
    """Parameters as a dict: all its tensors got one name, and the code of the module was no Python."""

    def function(params, x, *rest):
        return {"y": params["w"] * x + params["b"][0]}, rest[0][1]

    w, b, x = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 1.0]), torch.tensor([5.0, 7.0])
    traced = make_fx(function)({"w": x, "b": [x]}, w, (1, b))
    names = [n.name for n in traced.graph.find_nodes(op="placeholder")]
    assert names == ["params_1", "params_2", "x_1", "rest_0_1", "rest_0_2"]
    assert "def forward(self, params, x, rest_0):" in traced.code
    copies = copy.deepcopy(traced), pickle.loads(pickle.dumps(traced)), torch.fx.Transformer(traced).transform()
    for module in (traced, *copies):
        found, other = module({"w": w, "b": [b]}, x, (1, x))
        assert found["y"].tolist() == [11, 22] and torch.equal(other, x)
    found, _ = torch.fx.Interpreter(traced).run({"w": w, "b": [b]}, x, (1, x))
    assert found["y"].tolist() == [11, 22]
    with pytest.raises(ValueError, match="where the function was recorded"):
        traced({"w": w}, x, (1, x))
    functional = torch.func.functionalize(lambda params, x: params["w"].clone().mul_(x) + params["b"][0])
    assert functional({"w": w, "b": [b]}, x).tolist() == [11, 22]
