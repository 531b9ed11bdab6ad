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


@pytest.mark.filterwarnings("ignore")
@each_sample([row for row in OPS if row.differentiable], lambda row: gradient_dtypes(row)[:1])
def test_what_the_gradients_of_several_outputs_are_like(row, sample):
    """Those of outputs other than the one that was asked for its node were known of Functions only."""
    call = Call(row, sample)
    outputs = [y for y in call.function(*call.leaves()) if not y.is_leaf]
    for y in outputs[-1:]:  # the one that is asked
        likes = [None if like is None else (tuple(like.shape), like.dtype) for like in y.grad_fn._input_metadata]
        assert likes[y.output_nr] == (y.shape, y.dtype)
        for other in outputs[:-1]:
            if other.grad_fn is y.grad_fn:
                assert likes[other.output_nr] == (other.shape, other.dtype)


@pytest.mark.parametrize("parts", [lambda x: x.split(2), lambda x: x.split([1, 2]), lambda x: x.unbind(1), ag.var_mean])
def test_what_the_gradients_of_views_and_means_are_like(parts):
    outputs = parts(ag.ones(3, 2, requires_grad=True))
    likes = outputs[-1].grad_fn._input_metadata
    assert [(tuple(like.shape), like.dtype) for like in likes] == [(y.shape, y.dtype) for y in outputs]


F = ag.nn.functional
REFUSED = {
    "pooling": (lambda x: F.avg_pool2d(x, 2), ag.ones(()), ValueError, "expected at least 2 dimensions"),
    "an index": (lambda x: x[0, 0, ag.tensor([0, 1])], ag.ones(3), RuntimeError, "expected a gradient of 8 elements"),
    "index_select": (lambda x: x.index_select(3, ag.tensor([0])), ag.ones(3), RuntimeError, "a gradient of 4 elements"),
    "embedding": (lambda x: F.embedding(ag.tensor([0, 1]), x[0, 0]), ag.ones(3), RuntimeError, "2 rows of 4 elements"),
    "softmax": (lambda x: x.softmax(3), ag.ones(1, 1, 4, 4, dtype=ag.int8), RuntimeError, "real floating point type"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_read_beyond_is_refused(case):
    """The test above finds such reads under a sanitizer; these were found by it."""
    operation, gradient, error, text = REFUSED[case]
    node = operation(ag.ones(1, 1, 4, 4, requires_grad=True)).grad_fn
    with pytest.raises(error, match=text):
        node(gradient)


def test_cholesky_has_a_node_of_its_name():
    matrix = (ag.eye(2, dtype=ag.float64) * 4).requires_grad_()
    factor = ag.cholesky(matrix)
    assert factor.grad_fn.name() == "CholeskyBackward0"
    assert ag.equal(factor.grad_fn._saved_result, factor)
    assert ag.linalg.cholesky(matrix).grad_fn.name() == "LinalgCholeskyExBackward0"
    assert ag.autograd.gradcheck(lambda m: ag.cholesky(m @ m.T), matrix)
