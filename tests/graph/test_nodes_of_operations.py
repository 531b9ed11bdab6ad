"""Nodes of all operations, called by hand with gradients of other shapes and types: they stay within the memory."""

import contextlib

import pytest
from op_calls import Call, each_sample, gradient_dtypes
from opinfo import OPS

import autograd_cy as ag

SHAPES = [(), (0,), (1,), (3,), (2, 2), (1, 1, 1, 1, 1, 1), (4, 0, 2), (2, 3, 4), (5, 1, 2, 2)]
REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)


def nodes_behind(roots):
    """All nodes of a graph but those of its leaves."""
    found, waiting = {}, [root.grad_fn for root in roots if root.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        if id(node) not in found:
            found[id(node)] = node
            waiting += [following for following, _ in node.next_functions if following is not None]
    return [node for node in found.values() if node.name() != "torch::autograd::AccumulateGrad"]


def count_of_outputs(node):
    with pytest.raises(TypeError) as error:
        node(*[None] * 1000)
    return int(str(error.value).split("expected ")[1].split()[0])


@pytest.mark.filterwarnings("ignore")
@each_sample([row for row in OPS if row.differentiable], lambda row: gradient_dtypes(row)[:1])
def test_gradients_of_other_shapes_and_types(row, sample):
    """An interpolation read sizes that a gradient without dimensions hasn't got; softmax took int8 for float64."""
    call = Call(row, sample)
    for node in nodes_behind(call.function(*call.leaves())):
        n = count_of_outputs(node)
        for shape in SHAPES:
            for dtype in (ag.float64, ag.float32, ag.float16, ag.int8, ag.bool, ag.complex64):
                with contextlib.suppress(*REFUSALS):
                    node(*[ag.ones(shape, dtype=dtype)] * n)
