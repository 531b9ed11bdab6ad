"""index_select and gather: what they pick, where gradients go, what they refuse."""

import math

import numpy as np
import pytest
from common import leaf
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as torch


def index(values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


def elements(index, dim, sizes):
    """The places, among all elements of a tensor of those sizes, that gather() picks: element by element."""
    found = np.zeros(index.shape, int)
    for at in np.ndindex(*index.shape):
        source = list(at)
        source[dim] = index[at]
        found[at] = np.ravel_multi_index(source, sizes)
    return found


@st.composite
def picks(draw):
    """(sizes, dim, index for gather, index for index_select)"""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    dim = draw(st.integers(0, len(sizes) - 1))
    shape = [draw(st.integers(0, 5 if d == dim else size)) for d, size in enumerate(sizes)]
    rows = st.integers(0, sizes[dim] - 1)
    numbers = draw(st.lists(rows, min_size=math.prod(shape), max_size=math.prod(shape)))
    return sizes, dim, np.array(numbers, np.int64).reshape(shape), np.array(draw(st.lists(rows)), np.int64)


def check(places, x, y):
    """`y` has the elements of `x`, which were numbered, at these places; its gradient goes there."""
    np.testing.assert_array_equal(y.detach().numpy(), places)
    g = np.arange(1.0, places.size + 1).reshape(places.shape)
    y.backward(torch.from_numpy(g), retain_graph=True)
    wanted = np.zeros(math.prod(x.shape))
    np.add.at(wanted, places.ravel(), g.ravel())
    np.testing.assert_array_equal(x.grad.numpy().ravel(), wanted)

    seed = torch.from_numpy(g).requires_grad_()
    (gradient,) = torch.autograd.grad(y, x, seed, create_graph=True)
    np.testing.assert_array_equal(gradient.detach().numpy(), x.grad.numpy())
    (back,) = torch.autograd.grad(gradient, seed, x.detach())
    np.testing.assert_array_equal(back.numpy(), places)


def numbered(sizes):
    return leaf(np.arange(float(math.prod(sizes))).reshape(sizes))


@settings(deadline=None)
@given(picks())
def test_gather(pick):
    sizes, dim, numbers, _ = pick
    x = numbered(sizes)
    check(elements(numbers, dim, sizes), x, torch.gather(x, dim, torch.from_numpy(numbers)))


@settings(deadline=None)
@given(picks(), st.booleans())
def test_index_select(pick, counted_from_the_end):
    sizes, dim, _, rows = pick
    x = numbered(sizes)
    y = torch.index_select(x, dim - len(sizes) * counted_from_the_end, torch.from_numpy(rows))
    check(np.arange(x.numel()).reshape(sizes).take(rows, dim), x, y)


@pytest.mark.parametrize("values", [0, [0], [0, 0, 0], []])
def test_gather_of_a_0d_tensor(values):
    x = leaf(3.0)
    y = x.gather(0, index(values))
    assert y.shape == index(values).shape
    y.backward(torch.ones_like(y))
    assert x.grad.item() == y.numel()


@pytest.mark.parametrize("values", [0, [0]])
def test_index_select_of_a_0d_tensor(values):
    x = leaf(3.0)
    y = x.index_select(-1, index(values))
    assert y.shape == () and y.item() == 3.0
    y.backward()
    assert x.grad.item() == 1.0


def test_an_empty_vector_picks_nothing_from_any_shape():
    x = leaf([[1.0, 2.0]])
    y = x.gather(1, index([]))
    assert y.shape == (0,)
    y.backward(torch.ones_like(y))
    assert x.grad.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_index_types(dtype):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    assert x.gather(1, index([[1], [0]], dtype)).tolist() == [[2.0], [3.0]]
    assert x.index_select(1, index([1], dtype)).tolist() == [[2.0], [4.0]]


def test_a_single_number_selects_one_row():
    assert torch.tensor([[1.0, 2.0], [3.0, 4.0]]).index_select(0, index(1)).tolist() == [[3.0, 4.0]]


def test_strided_inputs():
    x = numbered((3, 4))
    i = index([[2, 0], [1, 1], [0, 2], [2, 2]])
    check(np.arange(12).reshape(3, 4).T.take([3, 0], 0), x, x.t().index_select(0, index([3, 0])))
    x = numbered((3, 4))
    check(np.take_along_axis(np.arange(12).reshape(3, 4).T, i.numpy(), 1), x, x.t().gather(1, i))


def test_nodes_and_what_they_save():
    x, i = leaf([[1.0, 2.0], [3.0, 4.0]]), index([[1], [0]])
    node = x.gather(1, i).grad_fn
    assert node.name() == "GatherBackward0"
    assert (node._saved_dim, node._saved_sparse_grad, node._saved_index.tolist()) == (1, False, [[1], [0]])
    assert node._saved_self.tolist() == x.tolist()
    node = x.index_select(0, index([1])).grad_fn
    assert node.name() == "IndexSelectBackward0"
    assert (node._saved_dim, node._saved_self_sym_sizes, node._saved_index.tolist()) == (0, (2, 2), [1])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: x.index_select(0, index([1])), "IndexAddBackward0"),
        (lambda x: x.gather(0, index([1])), "ScatterAddBackward0"),
    ],
)
def test_nodes_of_the_second_order(call, name):
    x = leaf([1.0, 2.0])
    (g,) = torch.autograd.grad(call(x), x, leaf([1.0]), create_graph=True)
    assert g.grad_fn.name() == name


@pytest.mark.parametrize("op", ["index_select", "gather"])
def test_a_changed_index_is_noticed(op):
    x, i = leaf([1.0, 2.0]), index([0, 1])
    y = getattr(x, op)(0, i)
    i.zero_()
    with pytest.raises(RuntimeError, match=r"inplace operation: \[torch.LongTensor \[2\]\] is at version 1"):
        y.backward(torch.ones_like(y))


x = torch.zeros(3, 4)

REFUSED = {
    "index_select: int16": (
        lambda: x.index_select(0, index([0], torch.int16)),
        RuntimeError,
        r"index_select\(\): Expected dtype int32 or int64 for index",
    ),
    "index_select: floats": (
        lambda: x.index_select(0, torch.tensor([0.0])),
        RuntimeError,
        "Expected dtype int32 or int64",
    ),
    "index_select: a matrix": (
        lambda: x.index_select(0, index([[0]])),
        IndexError,
        r"index_select\(\): Index is supposed to be a vector",
    ),
    "index_select: too large": (lambda: x.index_select(0, index([0, 3])), IndexError, "index out of range in self"),
    "index_select: negative": (lambda: x.index_select(0, index([-1])), IndexError, "index out of range in self"),
    "index_select: no such dim": (
        lambda: x.index_select(2, index([0])),
        IndexError,
        r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)",
    ),
    "index_select: two numbers for a 0-d tensor": (
        lambda: torch.tensor(1.0).index_select(0, index([0, 0])),
        RuntimeError,
        r"index_select\(\): Index to scalar can have only 1 value, got 2 value\(s\)",
    ),
    "index_select: a list": (
        lambda: x.index_select(0, [0]),
        TypeError,
        r"index_select\(\): argument 'index' \(position \d\) must be Tensor, not list",
    ),
    "gather: int16": (
        lambda: x.gather(0, index([[0]], torch.int16)),
        RuntimeError,
        r"gather\(\): Expected dtype int32/int64 for index",
    ),
    "gather: too large": (
        lambda: x.gather(0, index([[0, 3]])),
        RuntimeError,
        "index 3 is out of bounds for dimension 0 with size 3",
    ),
    "gather: negative": (
        lambda: x.gather(1, index([[0, -1]])),
        RuntimeError,
        "index -1 is out of bounds for dimension 1 with size 4",
    ),
    "gather: too large for a 0-d tensor": (
        lambda: torch.tensor(1.0).gather(0, index(1)),
        RuntimeError,
        "index 1 is out of bounds for dimension 0 with size 1",
    ),
    "gather: fewer dimensions": (
        lambda: x.gather(0, index([0])),
        RuntimeError,
        "Index tensor must have the same number of dimensions as input tensor",
    ),
    "gather: larger apart from dim": (
        lambda: x.gather(1, index([[0]] * 4)),
        RuntimeError,
        r"Size does not match at dimension 0 expected index \[4, 1\] to be no larger than self \[3, 4\] apart from "
        "dimension 1",
    ),
    "gather: a list": (
        lambda: x.gather(0, [[0]]),
        TypeError,
        r"gather\(\): argument 'index' \(position \d\) must be Tensor, not list",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


SHAPES = [((3, 4), (2, 3)), ((3, 4), (3, 1)), ((3, 4), (2, 0)), ((5,), (7,)), ((), (3,)), ((), ()), ((2, 3, 4), (1, 3, 2))]


@pytest.mark.parametrize(("shape", "chosen"), SHAPES)
def test_sparse_gradients_are_the_dense_ones(shape, chosen):
    for dim in range(max(len(shape), 1)):
        places = torch.randint(0, shape[dim] if shape else 1, chosen)
        source = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        if any(n > m for k, (n, m) in enumerate(zip(chosen, shape, strict=False)) if k != dim):
            continue
        weights = torch.randn(chosen, dtype=torch.float64)
        (found,), (dense,) = (
            torch.autograd.grad(source.gather(dim, places, sparse_grad=is_sparse).sin(), source, weights)
            for is_sparse in (True, False)
        )
        assert found.is_sparse and found.shape == dense.shape and torch.allclose(found.to_dense(), dense)
        source.gather(dim, places, sparse_grad=True).sum().backward()
        assert source.grad.is_sparse


def test_second_derivatives_of_sparse_gradients():
    source, places = torch.randn(3, 4, dtype=torch.float64, requires_grad=True), torch.tensor([[0, 0, 1], [2, 2, 3]])
    def second(sparse):
        (g,) = torch.autograd.grad(source.gather(1, places, sparse_grad=sparse).pow(3).sum(), source, create_graph=True)
        return torch.autograd.grad((g.to_dense() ** 2).sum(), source)[0].to_dense()
    assert torch.allclose(second(True), second(False))
    with pytest.raises(NotImplementedError, match="sparse tensor can't be the samples of a batch"):
        torch.func.vmap(torch.func.grad(lambda x, i: x.gather(0, i, sparse_grad=True).sum()))(source.detach()[:2], places)


def test_who_writes_to_the_index_does_not_change_the_gradient():
    source, places = torch.ones(3, requires_grad=True), torch.tensor([0, 2])
    source.gather(0, places, sparse_grad=True).sum().backward()
    places.zero_()
    assert source.grad.to_dense().tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("reduce", ["add", "multiply"])
@pytest.mark.parametrize("src", [torch.tensor([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]), 2.0], ids=["tensor", "number"])
def test_scatter_with_reduce(reduce, src):
    x, index = torch.arange(1.0, 7.0).reshape(2, 3), torch.tensor([[0, 1, 0], [1, 1, 0]])
    expected = x.tolist()
    for i in range(2):
        for j in range(3):
            value = src if isinstance(src, float) else src[i, j].item()
            there = expected[index[i, j]][j]
            expected[index[i, j]][j] = there + value if reduce == "add" else there * value
    assert x.scatter(0, index, src, reduce=reduce).tolist() == expected
    assert x.clone().scatter_(0, index, src, reduce=reduce).tolist() == expected
    assert torch.scatter(x.long(), 0, index, 2, reduce=reduce).dtype == torch.int64


def test_scatter_refuses_other_reductions():
    x = torch.zeros(3)
    with pytest.raises(RuntimeError, match="reduce argument must be either add or multiply"):
        x.scatter_(0, torch.tensor([0]), 1.0, reduce="mean")
    assert x._version == 0


def test_flip_needs_dims():
    with pytest.raises(TypeError, match=r'flip\(\) missing 1 required positional arguments: "dims"'):
        torch.ones(2, 2).flip()
    assert torch.ones(2, 2).flip(()).tolist() == [[1, 1], [1, 1]]
