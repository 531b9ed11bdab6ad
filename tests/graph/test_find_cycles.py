"""autograd.graph.find_cycles: which reference cycles there are, and by what one object holds the next."""

import subprocess
import sys

import pytest
import test_cycles
import test_lifetime
from common import SaveBoth, leaf
from op_calls import OURS

import autograd_cy as torch

pytestmark = pytest.mark.skipif(not OURS, reason="about this package")

ORDINARY = [
    test_lifetime.unrun, test_lifetime.run, test_lifetime.retained, test_lifetime.of_saved_outputs, test_lifetime.of_views,
    test_lifetime.of_many_outputs, test_lifetime.of_a_function, test_lifetime.with_hooks, test_lifetime.descended,
    test_lifetime.with_retained_grad, test_lifetime.twice_differentiated, test_lifetime.failed, test_lifetime.forward_mode,
]  # fmt: skip


def find_cycles(tensor, **options):
    return torch.autograd.graph.find_cycles(tensor, **options)


@pytest.mark.parametrize("build", ORDINARY)
def test_ordinary_graphs_have_none(build):
    assert [find_cycles(tensor) for tensor in build() if tensor is not None] == [[]] * len(build())


PATHS = {
    test_cycles.hook_of_a_leaf_that_holds_the_leaf: ["hook: function", "closure variable x: Tensor"],
    test_cycles.ctx_that_holds_its_output: ["grad_fn: <KeepOutputBackward>", ".y: Tensor"],
    test_cycles.attribute_that_holds_its_own_tensor: [".itself: Tensor"],
    test_cycles.hook_that_holds_a_later_output: [
        ".grad_fn: <MulBackward0>", "next function: <MulBackward0>", "hook: function", "closure variable later[0]: Tensor"],
    test_cycles.hook_that_holds_its_own_tensor: [".grad_fn: <MulBackward0>", "hook: function", "closure variable y: Tensor"],
    test_cycles.node_hook_that_holds_the_output: [".grad_fn: <ExpBackward0>", "hook: function", "closure variable y: Tensor"],
    test_cycles.attribute_that_holds_an_output: [".grad_fn: <MulBackward0>", "saved or input: Tensor", ".output: Tensor"],
}


@pytest.mark.parametrize("build", PATHS)
def test_the_path_names_each_step(build):
    (cycle,) = find_cycles(build()[-1])
    lines = str(cycle).splitlines()
    assert lines[0].startswith("Tensor of shape []") and lines[-1].endswith("(the first again)")
    assert len(lines) == len(PATHS[build]) + 1
    assert all(expected in line for line, expected in zip(lines[1:], PATHS[build], strict=True)), cycle


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_the_cycle_of_create_graph_goes_from_the_gradient_to_its_leaf():
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    (cycle,) = find_cycles(x)
    assert cycle[0] is x and any(item is x.grad for item in cycle) and "  .grad: Tensor of shape []" in str(cycle)
    x.grad = None
    del cycle
    assert find_cycles(x) == []


def test_one_cycle_is_shown_for_each_group():
    x = leaf(1.0)
    x.itself = x
    x.again = [x, {"x": x}]
    y = x * 2
    y.itself = y
    assert [len(cycle) for cycle in find_cycles(y)] == [2, 2]
    assert {id(cycle[0]) for cycle in find_cycles(y)} == {id(x), id(y)}
    assert len(find_cycles(x)) == 1


def test_a_node_can_be_asked_too():
    x = leaf(1.0)
    node = SaveBoth.apply(x).grad_fn
    assert find_cycles(node) == []
    node.itself = node
    (cycle,) = find_cycles(node)
    assert cycle[0] is node and str(cycle) == "<SaveBothBackward>\n  .itself: <SaveBothBackward> (the first again)"


class Holder:
    def __init__(self):
        self.y = None

    def hook(self, g):
        return g


def test_objects_and_methods_on_the_way_are_named():
    x, holder = leaf(1.0), Holder()
    holder.y = x
    x.register_hook(holder.hook)
    (cycle,) = find_cycles(x)
    assert "hook: method Holder.hook" in str(cycle) and "holds: Holder object" in str(cycle) and ".y: Tensor" in str(cycle)


def test_cycles_without_tensors_and_through_globals_are_left_out():
    loop = []
    loop.append(loop)
    x = leaf(1.0)
    x.loop = loop
    namespace = {"x": x, "__builtins__": {}}
    x.register_hook(eval("lambda g: x", namespace))
    assert find_cycles(x) == []


def test_a_long_graph_is_walked_without_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(5000):
        y = y * 1
    x.last = y
    (cycle,) = find_cycles(y)
    assert len(cycle) > 5000


def test_the_walk_is_bounded_and_takes_tensors_only():
    with pytest.raises(RuntimeError, match="more than 3 objects can be reached"):
        find_cycles(leaf(1.0).exp().exp().exp().exp(), limit=3)
    with pytest.raises(TypeError, match="expected a Tensor or a node, but got int"):
        find_cycles(3)


def test_the_warning_of_create_graph_comes_once_and_says_what_helps():
    script = """
import warnings
import autograd_cy as torch
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        x = torch.tensor(3.0, requires_grad=True)
        (x * x).backward(create_graph=True)
        torch.autograd.backward(x * x, create_graph=True)
(warning,) = caught
text = str(warning.message)
assert issubclass(warning.category, UserWarning) and "will create a reference cycle" in text
assert "gc.collect() frees it" in text and "autograd.grad()" in text and ".grad to None" in text
"""
    subprocess.run([sys.executable, "-c", script], check=True)
