"""Against PyTorch on the same samples: values, dtypes, gradients, node names. Skipped where there is none."""

import numpy as np
import pytest
from op_calls import Call, each_sample, one_dtype, run_backward, to_numpy
from opinfo import DIFFERENTIABLE, OPS, SHAPES

import autograd_cy as ag

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:index_reduce")  # is in beta there

NEAR = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}


def assert_same(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(map(to_numpy, found), map(to_numpy, expected), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        near = NEAR.get(str(ours.dtype), 0)
        np.testing.assert_allclose(ours, theirs, rtol=near, atol=near)


@each_sample(OPS, lambda row: row.dtypes or row.forward)
def test_values(row, sample):
    found, expected = ([y.detach() for y in c(*c.leaves(requires_grad=False))] for c in calls(row, sample))
    assert_same(found, expected)


@each_sample(DIFFERENTIABLE, lambda row: row.dtypes)
def test_gradients(row, sample):
    if (row.name in REFUSED_COMPLEX and sample.args[0].dtype.kind == "c") or row.name in WRONG_IN_PYTORCH:
        return
    found, expected = (run_backward(c)[3] for c in calls(row, sample))
    assert_same(found, expected)


# PyTorch has no gradients of these for complex numbers; of the last it gives the tensor those of what was replaced.
REFUSED_COMPLEX = {"scatter_reduce", "select_copy", "select_scatter", "slice_copy", "slice_scatter"}
WRONG_IN_PYTORCH = {"as_strided_scatter"}


@each_sample(DIFFERENTIABLE, one_dtype)
def test_node_names(row, sample):
    assert_same_names(*calls(row, sample))


@each_sample(SHAPES, one_dtype)
def test_node_names_of_transposed_inputs(row, sample):
    if row.strided:
        assert_same_names(*calls(row, sample, wrap=lambda a: a.T.copy().T))


def calls(row, sample, **options) -> tuple[Call, Call]:
    return Call(row, sample, ag, **options), Call(row, sample, torch, **options)


def assert_same_names(ours, theirs):
    names = [[y.grad_fn and y.grad_fn.name() for y in call(*call.leaves())] for call in (ours, theirs)]
    if names == [["NllLoss2DBackward0"], ["ViewBackward0"]]:  # cross_entropy is one node, without reshaping
        return
    assert names[0] == names[1]
