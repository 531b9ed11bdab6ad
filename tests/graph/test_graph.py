"""The graph in view: nodes, their edges, their sequence numbers, and calling them."""

import pytest
from common import leaf

import autograd_cy as torch


def names_of(edges):
    return [(type(node).__name__, number) for node, number in edges]


def test_the_graph_of_a_sum_times_a_factor():
    a, b, d = torch.tensor(2.0, requires_grad=True), leaf(3.0, torch.float32), leaf(4.0, torch.float32)
    c = a + b
    e = c * d
    assert repr(e) == "tensor(20., grad_fn=<MulBackward0>)"
    assert names_of(e.grad_fn.next_functions) == [("AddBackward0", 0), ("AccumulateGrad", 0)]
    assert e.grad_fn.next_functions[0][0] is c.grad_fn
    assert e.grad_fn.next_functions[1][0].variable is d
    assert [node.variable for node, _ in c.grad_fn.next_functions] == [a, b]
    with pytest.raises(AttributeError, match="'AddBackward0' object has no attribute 'variable'"):
        c.grad_fn.variable  # noqa: B018


def test_leaves_and_constants_have_no_grad_fn():
    x, c = leaf([1.0]), torch.ones(1, dtype=torch.float64)
    with torch.no_grad():
        unrecorded = x * 2
    for t in (c, c * 2, unrecorded, (x * 2).detach()):
        assert t.grad_fn is None and t.is_leaf and not t.requires_grad
    assert x.grad_fn is None and x.is_leaf and x.requires_grad
    assert not (x * 2).is_leaf and (x * 2).requires_grad


def test_grad_fn_cannot_be_set_and_nodes_cannot_be_made():
    y = leaf(2.0) * 3
    with pytest.raises(AttributeError, match=r"'grad_fn' .* is not writable"):
        y.grad_fn = None
    with pytest.raises(TypeError, match="MulBackward0"):
        type(y.grad_fn)()


# Edges


def test_constants_have_an_edge_to_none():
    x = leaf([1.0, 2.0])
    c = torch.ones(2, dtype=torch.float64)
    assert names_of((x * c).grad_fn.next_functions) == [("AccumulateGrad", 0), ("NoneType", 0)]
    assert names_of((c / x).grad_fn.next_functions) == [("NoneType", 0), ("AccumulateGrad", 0)]


def test_all_uses_of_a_leaf_share_one_accumulate_grad():
    x = leaf(2.0)
    y, z = x * x, x + 1
    (first, _), (second, _) = y.grad_fn.next_functions
    assert first is second is z.grad_fn.next_functions[0][0]
    assert first.variable is x and first.next_functions == ()


def test_an_edge_names_the_output_that_it_comes_from():
    x = leaf([1.0, 2.0, 3.0])
    parts = x.unbind(0)
    assert [part.output_nr for part in parts] == [0, 1, 2]
    assert parts[0].grad_fn is parts[2].grad_fn
    total = torch.stack([parts[2], parts[0]])
    assert names_of(total.grad_fn.next_functions) == [("UnbindBackward0", 2), ("UnbindBackward0", 0)]


def test_grad_fn_is_the_same_object_each_time():
    y = leaf(2.0) * 3
    assert y.grad_fn is y.grad_fn and (y + 1).grad_fn.next_functions[0][0] is y.grad_fn


def test_a_node_outlives_its_tensor():
    node = (leaf(2.0).exp() * 3).grad_fn
    assert names_of(node.next_functions) == [("ExpBackward0", 0), ("NoneType", 0)]
    assert node.next_functions[0][0].next_functions[0][0].variable.item() == 2.0


def test_nodes_say_what_they_are():
    y = leaf(2.0) * 3
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert repr(y.grad_fn).startswith("<MulBackward0")
    assert y.grad_fn.next_functions[0][0].name().endswith("AccumulateGrad")


# Sequence numbers and the order of execution


def test_sequence_numbers_rise_and_leaves_have_the_largest():
    x = leaf(2.0)
    y = x * 2
    z = y + 1
    assert z.grad_fn._sequence_nr() == y.grad_fn._sequence_nr() + 1
    assert y.grad_fn.next_functions[0][0]._sequence_nr() == 2**64 - 1


def ran(root, **watched):
    """The names of the nodes and leaves in the order in which they received their gradients."""
    order = []
    for name, t in watched.items():
        t.register_hook(lambda g, name=name: order.append(name))
    root.backward()
    return order


def test_later_nodes_run_first_and_leaves_at_once():
    a, b = leaf(2.0), leaf(3.0)
    x, y = a.exp(), b.exp()
    assert ran(x + y, a=a, b=b, x=x, y=y) == ["y", "b", "x", "a"]


def test_a_set_sequence_number_changes_the_order():
    a, b = leaf(2.0), leaf(3.0)
    x, y = a.exp(), b.exp()
    z, w = x * 1, y * 1
    x.grad_fn._set_sequence_nr(z.grad_fn._sequence_nr() + 10)
    z.grad_fn._set_sequence_nr(z.grad_fn._sequence_nr() + 11)
    assert ran(z + w, a=a, b=b, x=x, y=y) == ["x", "a", "y", "b"]


def test_a_node_waits_for_all_its_gradients():
    a = leaf(2.0)
    x = a * 1
    y = x.exp()
    z = y + x
    assert ran(z, a=a, x=x, y=y, z=z) == ["z", "y", "x", "a"]


# Calling a node


def test_a_node_can_be_called():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    g = torch.tensor([1.0, 10.0], dtype=torch.float64)
    ga, gb = (a * b).grad_fn(g)
    assert ga.tolist() == [3.0, 40.0] and gb.tolist() == [1.0, 20.0]
    assert (-a).grad_fn(g).tolist() == [-1.0, -10.0]


def test_calling_an_accumulate_grad_accumulates():
    a = leaf([1.0, 2.0])
    accumulate = (-a).grad_fn.next_functions[0][0]
    accumulate(torch.ones(2, dtype=torch.float64))
    accumulate(torch.ones(2, dtype=torch.float64))
    assert a.grad.tolist() == [2.0, 2.0]
