"""Reductions of segments: NumPy's of each slice, and what PyTorch refuses."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.testing import check_gradients

LENGTHS = ag.tensor([2, 0, 3])
OF_EMPTY = {"sum": 0.0, "mean": np.nan, "max": -np.inf, "min": np.inf, "prod": 1.0}


@pytest.mark.parametrize("reduce", OF_EMPTY)
def test_each_segment_is_reduced(reduce):
    x = np.random.default_rng(0).normal(size=(5, 2))
    expected = [getattr(np, reduce)(x[:2], axis=0), np.full(2, OF_EMPTY[reduce]), getattr(np, reduce)(x[2:], axis=0)]
    for given in ({"lengths": LENGTHS}, {"offsets": ag.tensor([0, 2, 2, 5])}):
        np.testing.assert_allclose(ag.segment_reduce(ag.from_numpy(x), reduce, **given).numpy(), expected)


@pytest.mark.parametrize(("reduce", "expected"), [("sum", [13, 10, 22]), ("mean", [6.5, 10, 22 / 3]), ("max", [10, 10, 10])])
def test_segments_begin_with_a_number(reduce, expected):
    found = ag.segment_reduce(ag.tensor([1.0, 2, 3, 4, 5]), reduce, lengths=LENGTHS, initial=10)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_rows_may_have_segments_of_their_own():
    x = ag.arange(10.0).reshape(2, 5)
    found = ag.segment_reduce(x, "sum", lengths=ag.tensor([[2, 3], [1, 4]]), axis=-1)
    assert found.tolist() == [[1, 9], [5, 30]]


def test_what_is_in_no_segment_counts_for_nothing():
    x = ag.arange(5.0, requires_grad=True)
    y = ag.segment_reduce(x, "sum", lengths=ag.tensor([1, 2]), unsafe=True)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([0, 3], [1, 1, 1, 0, 0])
    assert ag.segment_reduce(x, "sum", offsets=ag.tensor([1, 2, 4]), unsafe=True).tolist() == [1, 5]


@pytest.mark.parametrize("reduce", OF_EMPTY)
def test_derivatives_are_right(reduce):
    x = ag.from_numpy(np.random.default_rng(1).normal(size=(2, 5, 2))).requires_grad_()
    lengths = ag.tensor([[1, 4], [3, 2]])
    check_gradients(lambda x: ag.segment_reduce(x, reduce, lengths=lengths, axis=1), x)


@pytest.mark.parametrize(
    ("reduce", "given", "text"),
    [
        ("sum", {}, "Either lengths or offsets must be defined"),
        ("sum", {"indices": LENGTHS}, "indices based reduction is not supported yet"),
        ("other", {"lengths": LENGTHS}, "must be either sum, prod, mean, amax or amin, got other"),
        ("sum", {"lengths": ag.tensor([2, 2])}, "Expected all rows of lengths along axis to sum to"),
        ("sum", {"lengths": ag.tensor([-1, 6])}, "lengths contains negative value!"),
        ("sum", {"lengths": LENGTHS.reshape(1, 3)}, "Expected axis to be the last dimension of lengths but got 0"),
    ],
)
def test_refused(reduce, given, text):
    with pytest.raises(RuntimeError, match=text):
        ag.segment_reduce(ag.arange(5.0), reduce, **given)


@pytest.mark.parametrize("axis", [1, -2])
def test_an_axis_that_is_not_there_is_refused(axis):
    """It was taken for one that is."""
    with pytest.raises(IndexError, match="Dimension out of range"):
        ag.segment_reduce(ag.arange(5.0), "sum", lengths=ag.tensor([2, 3]), axis=axis)
