"""One object, one identity: what is the same in the graph is the same object each time one looks."""

import gc

from common import define, leaf

import autograd_cy as torch


def test_a_node_is_the_same_each_time():
    y = leaf(1.0) * 2
    node = y.grad_fn
    node.metadata["mine"] = 1
    name = id(node)
    del node
    gc.collect()
    assert id(y.grad_fn) == name and y.grad_fn.metadata == {"mine": 1}


def test_edges_lead_to_the_nodes_of_the_tensors():
    x = leaf(1.0)
    y = x * 2
    z = y.exp()
    assert z.grad_fn.next_functions[0][0] is y.grad_fn


def test_the_accumulator_of_a_leaf_is_one_as_long_as_it_is_held():
    x = leaf(1.0)
    first, second = (x * 2).grad_fn.next_functions[0][0], (x * 3).grad_fn.next_functions[0][0]
    assert first is second is torch.autograd.graph.get_gradient_edge(x).node


def test_the_accumulator_leads_back_to_the_leaf():
    x = leaf(1.0)
    assert (x * 2).grad_fn.next_functions[0][0].variable is x


def test_a_leaf_that_was_saved_comes_back():
    x = leaf(1.0)
    assert (x * leaf(2.0)).grad_fn._saved_self is x


def test_the_gradient_is_the_same_object_until_it_is_replaced():
    x = leaf(1.0)
    (x * 2).backward()
    g = x.grad
    (x * 2).backward()
    assert x.grad is g and g.item() == 4.0


def test_hooks_see_the_current_node_itself():
    seen, y = [], leaf(1.0) * 2
    node = y.grad_fn
    node.register_prehook(lambda g: seen.append(torch._C._current_autograd_node()))
    y.backward()
    assert seen == [node]


def test_the_context_of_a_function_is_its_node():
    seen = []
    y = define(lambda ctx, x: seen.append(ctx) or x * 1, lambda ctx, g: g).apply(leaf(1.0))
    assert y.grad_fn is seen[0]


def test_attributes_stay_with_their_tensor():
    x = leaf(1.0)
    x.mine = [1]
    held = (x * 2).grad_fn.next_functions[0][0]
    assert held.variable.mine is x.mine
