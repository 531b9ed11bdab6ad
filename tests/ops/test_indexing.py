"""x[...]: which elements it picks, and where their gradients go."""

import numpy as np
import pytest
from common import leaf
from hypothesis import given, settings
from index_expressions import ALL, cases

import autograd_cy as torch


def index(*values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


@settings(deadline=None)
@given(cases())
def test_values_and_gradients_are_those_of_numpy(case):
    """Of a tensor of any order of dimensions in memory. All numbers are small integers, so sums are exact."""
    shape, order, expression = case
    places = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    expected = expression.of(places)
    x = torch.from_numpy(places.transpose(order).astype(float, order="C")).requires_grad_()
    back = np.argsort(order).tolist()
    y = x.permute(back)[tuple(expression.items)]
    np.testing.assert_array_equal(y.detach().numpy(), expected)

    g = np.arange(1.0, expected.size + 1).reshape(expected.shape)
    y.backward(torch.from_numpy(g))
    wanted = np.zeros(places.size)
    np.add.at(wanted, expected.ravel(), g.ravel())
    np.testing.assert_array_equal(x.grad.permute(back).numpy(), wanted.reshape(shape))


@settings(deadline=None)
@given(cases())
def test_the_gradient_is_differentiated_by_the_same_index(case):
    shape, _, expression = case
    x = torch.zeros(shape, dtype=torch.float64).requires_grad_()
    y = x[tuple(expression.items)]
    g = torch.ones_like(y).requires_grad_()
    (gradient,) = torch.autograd.grad(y, x, g, create_graph=True)
    v = np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape)
    (back,) = torch.autograd.grad(gradient, g, torch.from_numpy(v))
    np.testing.assert_array_equal(back.numpy(), expression.of(v))


def spellings(items):
    """An index as a tuple, and as a list where that is read as one."""
    yield tuple(items)
    if len(items) < 32 and any(not isinstance(item, (int, np.integer)) for item in items):
        yield list(items)


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@settings(deadline=None)
@given(cases())
def test_writes_go_where_reads_come_from(case):
    """A list of lists was one index for plain writes, and a tuple for reads and recorded writes."""
    shape, order, expression = case
    places = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    taken = expression.of(places)
    values = torch.from_numpy(np.asarray(1.0 + taken))
    back = np.argsort(order).tolist()
    for item in spellings(expression.items):
        np.testing.assert_array_equal(torch.from_numpy(places)[item].numpy(), taken)
        for recorded in (False, True):
            x = torch.zeros([shape[k] for k in order], dtype=torch.float64, requires_grad=recorded)
            y = (x * 1).permute(back)
            y[item] = values
            wanted = np.where(np.isin(places, taken), 1.0 + places, 0.0)
            np.testing.assert_array_equal(y.detach().numpy(), wanted)
            y[item] = 7
            np.testing.assert_array_equal(y.detach().numpy(), np.where(wanted, 7.0, 0.0))
            if recorded:
                (g,) = torch.autograd.grad(y.sum(), x)
                np.testing.assert_array_equal(g.permute(back).numpy(), np.where(wanted, 0.0, 1.0))


MIXED = {
    "an int beside indices makes a view first": ((0, ALL, index(0, 1)), lambda a: a[0][:, [0, 1]]),
    "indices apart go to the front": ((index(0, 1), ALL, index(1, 1)), lambda a: a[[0, 1], :, [1, 1]]),
    "a mask and an index": ((torch.tensor([True, True]), index(2, 0)), lambda a: a[[0, 1], [2, 0]]),
    "a mask of two dimensions and an int": ((torch.ones(2, 3, dtype=torch.bool), 1), lambda a: a.reshape(6, 4)[:, 1]),
    "a mask and an index apart from it": (
        (torch.tensor([[True, False, True], [False] * 3]), index(3, 0)),
        lambda a: a[[0, 0], [0, 2], [3, 0]],
    ),
    "index, mask of two dimensions": (
        (index(1, 0), torch.tensor([[True] + [False] * 3] * 2 + [[False] * 4])),
        lambda a: a[[1, 0], [0, 1], [0, 0]],
    ),
    "True is a dimension of size 1": (True, lambda a: a[None]),
    "False is one of size 0": (False, lambda a: a[None][:0]),
    "True beside an index is broadcast": ((True, index(0, 1)), lambda a: a),
    "a tensor that holds a bool": ((torch.tensor(True), 0), lambda a: a[None, 0]),
    "a range": (range(2), lambda a: a),
    "an empty list": ([], lambda a: a[:0]),
    "a nested sequence in a tuple": ((([0, 1], [1, 0]),), lambda a: a[[[0, 1], [1, 0]]]),
    "int32": (index(1, -1, dtype=torch.int32), lambda a: a[[1, 1]]),
    "any integers from NumPy": (np.array([1, 0], np.uint32), lambda a: a[[1, 0]]),
    "two dots twice": ((..., ...), lambda a: a),
}


@pytest.mark.parametrize("case", MIXED)
def test_index_expressions(case):
    item, reference = MIXED[case]
    places = np.arange(24.0).reshape(2, 3, 4)
    x = torch.from_numpy(places.copy()).requires_grad_()
    y = x[item]
    np.testing.assert_array_equal(y.detach().numpy(), reference(places))
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
    counts = np.bincount(reference(places).astype(int).ravel(), minlength=24)
    np.testing.assert_array_equal(gradient.numpy().ravel(), counts)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("item", [index(0, 2, 0, 0), (index(0, 2, 0, 0), index(1, 0, 1, 1))])
def test_duplicates_accumulate_in_every_type(dtype, item):
    x = torch.zeros(3, 2, dtype=getattr(torch, dtype)).requires_grad_()
    y = x[item]
    y.backward(torch.ones_like(y))
    wanted = np.zeros((3, 2))
    np.add.at(wanted, tuple(i.numpy() for i in item) if isinstance(item, tuple) else item.numpy(), 1)
    assert x.grad.dtype == x.dtype
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


@pytest.mark.parametrize("item", [0, -1, slice(1, None), ..., None, (), (0, 1), (ALL, None, 1), (ALL, ALL)])
def test_basic_indices_share_memory_and_version(item):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x[item]
    with torch.no_grad():
        y.zero_()
    assert x._version == y._version == 1
    assert 0 in x.detach().numpy()


@pytest.mark.parametrize("item", [index(0), [0, 1], np.array([1]), torch.tensor([True, False]), True])
def test_index_tensors_copy(item):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    with torch.no_grad():
        x[item].zero_()
    assert x._version == 0 and 0 not in x.detach().numpy()


def test_an_element_is_a_tensor():
    y = torch.tensor([1.0, 2.0])[1]
    assert isinstance(y, torch.Tensor) and y.shape == () and y.item() == 2.0


@pytest.mark.parametrize("item", [(ALL, index(0, 1)), (0, ALL, index(0, 1)), (index(0), ALL, index(1))])
def test_what_is_picked_is_contiguous(item):
    assert torch.zeros(2, 3, 4)[item].is_contiguous()
