"""Calling a node by hand: what it takes, what it refuses; only operations make nodes."""

import copy
import pickle

import numpy as np
import pytest
from common import IS_TORCH, SaveBoth, differs, leaf

import autograd_cy as torch

Node = torch.autograd.graph.Node

NODES = {
    "one input": lambda x: x * 2,
    "two inputs": lambda x: x * x,
    "a saved output": lambda x: x.exp(),
    "a reduction": lambda x: x.sum(),
    "a reduction with indices": lambda x: x.max(0).values,
    "a view": lambda x: x[1:],
    "several outputs": lambda x: x.unbind()[0],
    "a loss": lambda x: torch.nn.functional.cross_entropy(x, torch.tensor(1)),
    "a choice": lambda x: torch.where(x > 0, x, x),
    "a product": lambda x: x @ x,
}


@pytest.fixture(params=NODES)
def node(request):
    return NODES[request.param](leaf([1.0, 2.0, 3.0])).grad_fn


def outputs_of(node):
    return 3 if node.name() == "UnbindBackward0" else 1


def test_a_node_without_a_gradient_gives_none(node):
    """It was a segmentation fault."""
    result = node(*[None] * outputs_of(node))
    assert result is None or result == (None, None)


@pytest.mark.parametrize("garbage", [5, "a", np.ones(3), [1.0], object()], ids=lambda value: type(value).__name__)
def test_a_node_takes_tensors_only(node, garbage):
    """It was a segmentation fault: rules take what they get for Tensors."""
    with pytest.raises(TypeError, match=r"argument 0 is not a Variable"):
        node(*[garbage] * outputs_of(node))


def test_a_node_takes_one_gradient_for_each_output(node):
    n = outputs_of(node)
    with pytest.raises(TypeError, match=f"expected {n} arguments, got {n + 1} instead"):
        node(*[None] * (n + 1))
    with pytest.raises(TypeError, match=f"expected {n} arguments, got 0 instead"):
        node()


def test_a_gradient_for_some_outputs_is_enough():
    node = leaf([1.0, 2.0, 3.0]).unbind()[0].grad_fn
    assert node(None, None, torch.tensor(1.0, dtype=torch.float64)).tolist() == [0, 0, 1]
    with pytest.raises(TypeError, match="argument 2 is not a Variable"):
        node(None, None, 3)


@pytest.mark.parametrize("operation", [
    lambda x: x * x, lambda x: x.exp(), lambda x: x.softmax(0), lambda x: x[0:2], lambda x: x.max(0).values,
    lambda x: x.var(0),
    lambda x: torch.nn.functional.cross_entropy(x, torch.tensor(0), reduction="none"),
    lambda x: torch.nn.functional.layer_norm(x, (3,)),
])  # fmt: skip
def test_a_gradient_of_another_shape_is_refused(operation):
    """Where the indices of max stood, it read beyond the gradient."""
    node = operation(leaf([1.0, 2.0, 3.0])).grad_fn
    with pytest.raises((RuntimeError, ValueError)):
        node(torch.ones(2, 5, 7, dtype=torch.float64))


@pytest.mark.skipif(IS_TORCH, reason="refuses it, but for the number of dimensions")
def test_a_gradient_of_fewer_elements_than_indices_is_refused():
    node = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).max(1).values.grad_fn
    with pytest.raises(RuntimeError, match="expected a gradient and indices"):
        node(torch.ones(2, dtype=torch.float64))


def test_accumulate_grad_by_hand():
    x = leaf([1.0, 2.0, 3.0])
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node(None) == () and x.grad is None
    for garbage in (5, "a", np.ones(3)):
        with pytest.raises(TypeError, match="argument 0 is not a Variable"):
            node(garbage)
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        node(None, None)
    assert x.grad is None
    assert node(torch.ones(3, dtype=torch.float64)) == () and x.grad.tolist() == [1, 1, 1]


@differs("a node of a Function", "'SaveBothBackward' object is not callable")
def test_the_node_of_a_function_by_hand():
    x = leaf([1.0, 2.0])
    node = SaveBoth.apply(x).grad_fn
    assert node(torch.ones(2, dtype=torch.float64)).tolist() == [2, 4]
    assert node(None).tolist() == [0, 0]
    with pytest.raises(TypeError, match="argument 0 is not a Variable: SaveBothBackward takes Tensors or None, not int"):
        node(5)


def test_nobody_makes_nodes_but_operations(node):
    """`__new__` gave a node without its parts: to call it was a segmentation fault."""
    kind = type(node)
    for make in (kind, lambda: kind.__new__(kind), lambda: object.__new__(kind), lambda: Node.__new__(kind)):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(TypeError, match="is not an acceptable base type"):
        type("Sub", (kind,), {})
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle"):
            duplicate(node)


@pytest.mark.skipif(IS_TORCH, reason="Node is an abstract class of Python's")
def test_a_class_derived_from_node_has_no_objects():
    for base in (Node, torch.autograd.function.FunctionCtx, type(SaveBoth.apply(leaf(1.0)).grad_fn)):
        derived = type("Derived", (base,), {})
        for make in (derived, lambda: derived.__new__(derived), lambda: base.__new__(derived)):  # noqa: B023
            with pytest.raises(TypeError, match=r"cannot create '.*' instances|Can't instantiate abstract class"):
                make()
        with pytest.raises(TypeError):
            object.__new__(derived)


@pytest.mark.skipif(IS_TORCH, reason="other classes")
def test_what_the_core_makes_is_not_made_by_new():
    x = leaf(2.0)
    for made in (torch.float32, (x * x).grad_fn._raw_saved_self):
        with pytest.raises(TypeError, match=r"cannot create '.*' instances"):
            type(made).__new__(type(made))


def test_a_hook_on_the_node_of_clamp_sees_one_gradient():
    x, seen = leaf([-1.0, 0.5, 2.0]), []
    y = x.clamp(0, 1)
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), len(outputs))))
    y.sum().backward()
    assert seen == [(1, 1)] and len(y.grad_fn.next_functions) == 1
