"""GradientEdge as a root and as an input; dicts and other containers of inputs."""

import collections
import gc
import weakref

import pytest
from common import differs, leaf

import autograd_cy as torch

GradientEdge, get_gradient_edge = torch.autograd.graph.GradientEdge, torch.autograd.graph.get_gradient_edge
backward, grad = torch.autograd.backward, torch.autograd.grad


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def same(found, expected):
    return [None if g is None else g.tolist() for g in found] == expected


# Roots


@pytest.mark.parametrize("wrap", [lambda edge: edge, lambda edge: [edge], lambda edge: (edge,)])
def test_an_edge_is_a_root(wrap):
    x = leaf([1.0, 2.0])
    edge = get_gradient_edge(x * 2)
    assert same(grad(wrap(edge), x, double([1.0, 5.0]), retain_graph=True), [[2.0, 10.0]])
    backward(wrap(edge), double([1.0, 5.0]))
    assert x.grad.tolist() == [2.0, 10.0]


def test_an_edge_stands_for_one_output():
    x = leaf([1.0, 2.0])
    assert same(grad(get_gradient_edge(x.unbind(0)[1]), x), [[0.0, 1.0]])


def test_an_edge_of_a_scalar_needs_no_seed():
    x = leaf([1.0, 2.0])
    assert same(grad(get_gradient_edge((x * 3).sum()), x), [[3.0, 3.0]])


def test_an_edge_of_several_elements_needs_a_seed():
    edge = get_gradient_edge(leaf([1.0, 2.0]) * 2)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        backward(edge)


def test_an_edge_of_a_complex_scalar_needs_a_seed():
    edge = get_gradient_edge(torch.tensor(1j, requires_grad=True) * 2)
    with pytest.raises(RuntimeError, match=r"only for real scalar outputs but got (torch\.)?complex64"):
        backward(edge)


def test_the_seed_of_an_edge_is_checked():
    x = leaf([1.0, 2.0])
    edge = get_gradient_edge(x * 2)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of .* and output\[0\] has"):
        grad(edge, x, double([1.0]))
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        grad(edge, x, torch.ones(2, dtype=torch.complex64))


def test_the_seed_of_an_edge_is_cast():
    x = leaf([1.0, 2.0])
    assert grad(get_gradient_edge(x * 2), x, torch.ones(2))[0].dtype == torch.float64


def test_edges_and_tensors_together():
    x = leaf([1.0, 2.0])
    y, z = x * 2, (x * 3).sum()
    backward([get_gradient_edge(y), z], [double([1.0, 1.0]), None])
    assert x.grad.tolist() == [5.0, 5.0]


def test_an_edge_is_a_root_under_create_graph():
    x = leaf(3.0)
    (g,) = grad(get_gradient_edge(x * x), x, create_graph=True)
    assert grad(g, x)[0].item() == 2.0


def test_batches_of_seeds_for_an_edge():
    x = leaf([1.0, 2.0])
    edge = get_gradient_edge(x * 2)
    (g,) = grad(edge, x, double([[1.0, 0.0], [0.0, 1.0]]), is_grads_batched=True)
    assert g.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_an_edge_keeps_the_graph_but_not_the_tensor():
    x = leaf([1.0, 2.0])
    y = x + 1
    edge, seen = get_gradient_edge(y), weakref.ref(y)
    del y
    gc.collect()
    assert seen() is None
    backward(edge, double([1.0, 1.0]))
    assert x.grad.tolist() == [1.0, 1.0]


def test_run_backward_takes_edges():
    x = leaf([1.0, 2.0])
    edge = get_gradient_edge(x * 2)
    run = torch.autograd.Variable._execution_engine.run_backward
    found = run((edge,), (double([1.0, 1.0]),), False, False, (get_gradient_edge(x),), True, False)
    assert same(found, [[2.0, 2.0]])


def test_run_backward_wants_the_seed_of_an_edge():
    edge = get_gradient_edge(leaf([1.0, 2.0]) * 2)
    run = torch.autograd.Variable._execution_engine.run_backward
    with pytest.raises(RuntimeError, match="is None, but the corresponding output is a GradientEdge"):
        run((edge,), (None,), False, False, (), True, True)


# Inputs


def test_an_edge_is_an_input_of_grad():
    x = leaf([1.0, 2.0])
    y = x * 2
    z = (y * 3).sum()
    assert same(grad(z, get_gradient_edge(y), retain_graph=True), [[3.0, 3.0]])
    assert same(grad(z, [x, get_gradient_edge(y), get_gradient_edge(x)]), [[6.0, 6.0], [3.0, 3.0], [6.0, 6.0]])


def test_an_edge_of_a_leaf_is_an_input_of_backward():
    x, w = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    (x * w).sum().backward(inputs=get_gradient_edge(x))
    assert x.grad is not None and w.grad is None


def test_an_edge_of_a_computed_tensor_makes_backward_stop_there():
    x = leaf([1.0, 2.0])
    y = x * 2
    (y * 3).sum().backward(inputs=[get_gradient_edge(y)])
    assert x.grad is None


def test_an_edge_that_is_not_used():
    x = leaf([1.0, 2.0])
    edge = get_gradient_edge(x * 2)
    with pytest.raises(RuntimeError, match="index 0 appears to not have been used in the graph"):
        grad((x * 3).sum(), edge)
    assert grad((x * 3).sum(), edge, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        grad((x * 3).sum(), edge, materialize_grads=True)


# Edges built by hand


def test_an_edge_built_by_hand_serves_like_one_of_a_tensor():
    x = leaf([1.0, 2.0])
    y = x * 2
    edge = GradientEdge(y.grad_fn, 0)
    assert edge == get_gradient_edge(y) and edge._fields == ("node", "output_nr", "ownership_token")
    assert same(grad(edge, x, double([1.0, 1.0])), [[2.0, 2.0]])


BY_HAND = {
    "no node": (lambda node: GradientEdge(None, 0), TypeError, "node has to be a Node of a graph, but got NoneType"),
    "not a node": (lambda node: GradientEdge(3, 0), TypeError, "node has to be a Node of a graph, but got int"),
    "no such output": (lambda node: GradientEdge(node, 1), IndexError, "has 1 outputs, there is no number 1"),
    "a negative output": (lambda node: GradientEdge(node, -1), IndexError, "has 1 outputs, there is no number -1"),
    "not a number": (lambda node: GradientEdge(node, "0"), TypeError, "output_nr has to be an int, but got str"),
}


@differs("a GradientEdge made by hand", "AttributeErrors, and a crash for a negative output")
@pytest.mark.parametrize("wrong", BY_HAND)
def test_an_edge_built_by_hand_is_checked(wrong):
    make, error, message = BY_HAND[wrong]
    x = leaf([1.0, 2.0])
    y = x * 2
    edge = make(y.grad_fn)
    with pytest.raises(error, match=message):
        grad(edge, x, double([1.0, 1.0]))
    with pytest.raises(error, match=message):
        grad(y.sum(), edge)
    with pytest.raises(error, match=message):
        y.sum().backward(inputs=[edge])


@differs("a GradientEdge made by hand", "checks the shape")
def test_an_edge_built_by_hand_needs_a_seed():
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs: output 0 is a GradientEdge"):
        backward(GradientEdge((leaf(1.0) * 2).grad_fn, 0))


# Containers


def test_a_dict_of_inputs_gives_a_dict():
    x, w = leaf(2.0), leaf(3.0)
    found = grad(x * w, {"weight": w, "input": x, "edge": get_gradient_edge(w)})
    assert list(found) == ["weight", "input", "edge"] and same(found.values(), [2.0, 3.0, 2.0])


def test_a_dict_of_inputs_of_backward():
    x, w = leaf(2.0), leaf(3.0)
    (x * w).backward(inputs={"weight": w})
    assert w.grad.item() == 2.0 and x.grad is None


def test_what_was_not_used_in_a_dict():
    x, w = leaf(2.0), leaf([1.0, 1.0])
    with pytest.raises(RuntimeError, match="index 1 appears to not have been used"):
        grad(x * 2, {"x": x, "w": w})
    assert grad(x * 2, {"x": x, "w": w}, allow_unused=True)["w"] is None
    assert grad(x * 2, {"x": x, "w": w}, materialize_grads=True)["w"].tolist() == [0.0, 0.0]


def test_other_mappings_are_refused():
    x = leaf(2.0)
    with pytest.raises(TypeError, match=r"`inputs` argument to `grad\(\)` must be a dict, not OrderedDict"):
        grad(x * 2, collections.OrderedDict(x=x))


def test_an_empty_dict_is_refused():
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `grad\(\)` cannot be empty"):
        grad(leaf(2.0) * 2, {})


def test_a_dict_of_other_things_is_refused():
    with pytest.raises((RuntimeError, AttributeError), match="all inputs have to be Tensors or GradientEdges, but got int"):
        grad(leaf(2.0) * 2, {"x": 3})


@pytest.mark.parametrize("container", [tuple, list, iter])
def test_other_containers_give_a_tuple(container):
    x = leaf(2.0)
    assert type(grad(x * 2, container([x, x]), allow_unused=True)) is tuple
