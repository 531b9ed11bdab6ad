"""mm, addmm, bmm, mv, dot, matmul, linear: what they refuse, what their nodes show, random shapes and layouts."""

import numpy as np
import pytest
from common import differs, leaf
from crossings import kernel_threads
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as torch

F = torch.nn.functional


def ones(*sizes, dtype=torch.float32):
    return torch.ones(sizes, dtype=dtype)


def double(*sizes):
    return ones(*sizes, dtype=torch.float64)


SHAPES = r"mat1 and mat2 shapes cannot be multiplied \(2x3 and {}\)"
DTYPES = "expected m1 and m2 to have the same dtype, but got: float != double"
LENGTHS = r"inconsistent tensor size, expected tensor \[3\] and src \[4\] to have the same number of elements"
BATCHES = r"Expected size for first two dimensions of batch2 tensor to be: \[2, 4\] but got: \[2, 2\]\."
EXPANDED = r"The expanded size of the tensor \(5\) must match the existing size \(4\) at non-singleton dimension 1"

REFUSED = {
    "mm of sizes that don't fit": (lambda: torch.mm(ones(2, 3), ones(4, 5)), SHAPES.format("4x5")),
    "mm of a vector": (lambda: torch.mm(ones(3), ones(3, 5)), "self must be a matrix"),
    "mm of a batch": (lambda: torch.mm(ones(3, 3), ones(3, 5, 2)), "mat2 must be a matrix"),
    "mm of two types": (lambda: torch.mm(ones(2, 3), double(3, 5)), DTYPES),
    "mm of integers and floats": (lambda: torch.mm(ones(2, 3, dtype=torch.int64), ones(3, 5)), "long int != float"),
    "0-d matmul": (lambda: ones() @ ones(3), "both arguments to matmul need to be at least 1D, but they are 0D and 1D"),
    "matmul of vectors": (lambda: ones(3) @ ones(4), LENGTHS),
    "matrix @ vector": (lambda: ones(2, 3) @ ones(4), r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
    "vector @ matrix": (lambda: ones(2) @ ones(3, 4), r"cannot be multiplied \(1x2 and 3x4\)"),
    "batch @ matrix": (lambda: ones(2, 2, 2) @ ones(3, 4), r"cannot be multiplied \(4x2 and 3x4\)"),
    "batch @ batch": (lambda: ones(2, 3, 4) @ ones(2, 2, 2), BATCHES),
    "batches that don't broadcast": (
        lambda: ones(2, 3, 4) @ ones(3, 4, 2),
        r"The size of tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dimension 0",
    ),
    "batches of two types": (lambda: ones(2, 3, 3) @ double(2, 3, 2), "expected scalar type Float but found Double"),
    "bmm of matrices": (lambda: torch.bmm(ones(3, 4), ones(3, 4, 4)), "batch1 must be a 3D tensor"),
    "bmm by a matrix": (lambda: torch.bmm(ones(2, 3, 4), ones(4, 4)), "batch2 must be a 3D tensor"),
    "mv of matrices": (lambda: torch.mv(ones(2, 3), ones(3, 1)), "vector . matrix @ vector expected, got 1, 2, 2"),
    "mv of two types": (
        lambda: torch.mv(ones(2, 3), double(3)),
        "addmv input tensors must have the same dtype, but got Double, Float, and Double",
    ),
    "dot of a matrix": (lambda: torch.dot(ones(2, 3), ones(4)), "1D tensors expected, but got 2D and 1D tensors"),
    "dot of two types": (
        lambda: torch.dot(ones(3), double(3)),
        "dot : expected both vectors to have same dtype, but found Float and Double",
    ),
    "addmm to another size": (lambda: torch.addmm(ones(2, 4), ones(2, 3), ones(3, 5)), EXPANDED),
    "addmm of a vector": (lambda: torch.addmm(ones(5), ones(3), ones(3, 5)), "mat1 must be a matrix, got 1-D tensor"),
    "addmm to another type": (
        lambda: torch.addmm(double(5), ones(2, 3), ones(3, 5)),
        "self and mat2 must have the same dtype, but got Double and Float",
    ),
    "addmm of two types": (
        lambda: torch.addmm(ones(5), double(2, 3), ones(3, 5)),
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    "linear of two types": (
        lambda: F.linear(double(2, 3), ones(4, 3), ones(4)),
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    "addmm times a complex number": (
        lambda: torch.addmm(ones(5), ones(2, 3), ones(3, 5), alpha=1j),
        "value cannot be converted to type float without overflow",
    ),
    "linear of sizes that don't fit": (lambda: F.linear(ones(2, 3), ones(4, 5), ones(4)), SHAPES.format("5x4")),
    "linear of a batch": (lambda: F.linear(ones(2, 2, 3), ones(4, 5), ones(4)), r"\(4x3 and 5x4\)"),
    "linear with a batch of weights": (lambda: F.linear(ones(2, 3), ones(2, 4, 3)), "but self is 3D"),
    "0-d linear": (lambda: F.linear(ones(), ones(4, 5)), "both arguments to linear need to be at least 1D, but they are 0D"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize("name, ndim", [("mm", 2), ("bmm", 3), ("matmul", 2), ("dot", 1)])
def test_bool_has_no_products(name, ndim):
    x = torch.ones([2] * ndim, dtype=torch.bool)
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        getattr(torch, name)(x, x)


def test_arguments_that_are_no_tensors():
    with pytest.raises(TypeError, match=r"mm\(\): argument 'mat2' \(position 2\) must be Tensor, not int"):
        torch.mm(ones(2, 3), 3)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for @"):
        ones(2, 3) @ 3


@differs("`array @ tensor`", "an ndarray on the left refuses")
def test_ndarrays_as_operands():
    x, a = leaf([[1.0, 2.0]]), np.array([[3.0], [4.0]])
    for y in (x @ a, (a.T @ x.t())):
        assert y.tolist() == [[11.0]]
        assert y.grad_fn is not None


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float16])
def test_other_types(dtype):
    a, b = torch.tensor([[1, 2], [3, 4]], dtype=dtype), torch.tensor([[5, 6], [7, 8]], dtype=dtype)
    assert (a @ b).tolist() == [[19, 22], [43, 50]]
    assert (a @ b).dtype == dtype


def test_what_a_product_saves():
    a, b = leaf(np.ones((2, 3)).tolist()), leaf(np.ones((4, 3)).tolist())
    node = (a @ b.t()).grad_fn
    assert node._saved_self is a
    assert node._saved_mat2.shape == (3, 4)
    assert node._saved_self_sym_sizes == (2, 3) and node._saved_self_sym_strides == (3, 1)
    assert node._saved_mat2_sym_sizes == (3, 4) and node._saved_mat2_sym_strides == (1, 3)
    assert (a.detach() @ b.t()).grad_fn._saved_mat2 is None


def test_what_linear_saves():
    x, w, bias = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), leaf([0.0, 0.0, 0.0])
    for node in (F.linear(x, w, bias).grad_fn, torch.addmm(bias, x, w.t()).grad_fn):
        assert node.name() == "AddmmBackward0"
        assert node._saved_mat1 is x
        assert node._saved_mat2.tolist() == [[3, 5, 7], [4, 6, 8]]
        assert (node._saved_alpha, node._saved_beta) == (1, 1)
        assert node._saved_mat2_sym_sizes == (2, 3) and node._saved_mat2_sym_strides == (1, 2)
    assert F.linear(x, w).grad_fn._saved_mat2.tolist() == [[3, 5, 7], [4, 6, 8]]


def test_weights_changed_before_backward():
    x, w = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]])
    y = F.linear(x, w)
    with torch.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_addmm_without_its_input():
    c, a, b = leaf([[np.nan]]), leaf([[2.0]]), leaf([[3.0]])
    y = torch.addmm(c, a, b, beta=0, alpha=0.5)
    assert y.item() == 3
    assert [g.item() for g in torch.autograd.grad(y, (c, a, b))] == [0, 1.5, 1]


def test_addmm_of_integers_truncates_its_factors():
    x = torch.tensor([[2]])
    assert torch.addmm(x, x, x, alpha=1.9, beta=torch.tensor(2.5)).item() == 8


# Random shapes and layouts

def sizes_of(batch, matrix, rank, drop):
    """The sizes of an operand with that many dimensions: of the batch the last ones, of which some become 1."""
    if rank == 1:
        return matrix[1:] if drop else matrix[:1]
    return [1 if one else n for n, one in zip(batch[len(batch) - rank + 2 :], (drop, not drop), strict=False)] + matrix


@st.composite
def operands(draw):
    """Two arrays that can be multiplied, in some layout."""
    n, m, p = (draw(st.integers(0, 5)) for _ in range(3))
    batch = draw(st.lists(st.integers(0, 3), min_size=2, max_size=2))
    left = sizes_of(batch, [m, n], draw(st.integers(1, 4)), True)
    right = sizes_of(batch, [n, p], draw(st.integers(1, 4)), False)
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    return [lay_out(rng.uniform(-1, 1, sizes), draw(st.integers(0, 3))) for sizes in (left, right)]


def lay_out(array, choice):
    """The array as it is, in Fortran order, of every second element, or the same along its first dimension."""
    if choice == 1:
        return np.asfortranarray(array)
    if choice == 2:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return np.broadcast_to(array[:1], array.shape).copy(order="K") if choice == 3 else array


def as_matrices(a, b):
    """Both operands with the dimensions that a vector lacks."""
    return (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)


def summed_to(g, shape):
    """`g` summed over what was broadcast."""
    g = g.sum(tuple(range(g.ndim - len(shape))))
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and g.shape[k] != 1)
    return g.sum(axes, keepdims=True)


@settings(max_examples=200, deadline=None)
@given(operands())
def test_matmul_of_any_shapes(arrays):
    a, b = (torch.from_numpy(x).requires_grad_() for x in arrays)
    y = a @ b
    np.testing.assert_allclose(y.detach().numpy(), np.matmul(*arrays), atol=1e-12)
    seed = np.random.default_rng(3).uniform(-1, 1, y.shape)
    y.backward(torch.from_numpy(np.asarray(seed)))
    left, right = as_matrices(*arrays)
    g = seed.reshape(np.matmul(left, right).shape)
    for x, array, expected in ((a, left, g @ np.swapaxes(right, -1, -2)), (b, right, np.swapaxes(left, -1, -2) @ g)):
        expected = summed_to(expected, array.shape).reshape(x.shape)
        np.testing.assert_allclose(x.grad.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_large_matrices(dtype):
    """So many elements that other threads may run during the product."""
    rng = np.random.default_rng(0)
    a, b, g = (rng.uniform(-1, 1, sizes).astype(dtype) for sizes in [(70, 80), (80, 90), (70, 90)])
    x, y = (torch.from_numpy(array).requires_grad_() for array in (a, b))
    (x @ y).backward(torch.from_numpy(g))
    np.testing.assert_allclose(x.grad.numpy(), g @ b.conj().T, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(y.grad.numpy(), a.conj().T @ g, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows, columns", [(70, 80), (5600, 1), (1, 5600)])
@pytest.mark.parametrize("choice", range(4))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_outer_products(dtype, choice, rows, columns, threads):
    """Enough for them to be shared among threads, and few: each element is one product, to the bit."""
    rng = np.random.default_rng(0)
    with kernel_threads(threads):
        for batch in (2, 60):
            shapes = (batch, rows, 1), (batch, 1, columns)
            a, b = (lay_out(rng.uniform(-1, 1, sizes).astype(dtype), choice) for sizes in shapes)
            y = torch.bmm(torch.from_numpy(a), torch.from_numpy(b)).numpy()
            np.testing.assert_array_equal(y, a * b)


def lines_of(y):
    """The names of the nodes from a result to its first input."""
    names, node = [], y.grad_fn
    while node is not None:
        names.append(node.name().removeprefix("torch::autograd::"))
        node = next((f for f, _ in node.next_functions if f is not None), None)
    return names[:-1]


@pytest.mark.parametrize("wanted", ["a", "b", "ab"])
def test_a_batch_of_one_that_requires_grad_is_one_matrix(wanted):
    """Else its gradient would be as large as the other batch, until it is summed up."""
    rng = np.random.default_rng(0)
    a, b = (torch.tensor(rng.standard_normal(s), requires_grad=n in wanted) for n, s in (("a", (1, 2, 3)), ("b", (4, 3, 5))))
    left, right = a @ b, b.transpose(1, 2) @ a.transpose(1, 2)
    expected = a.detach().numpy() @ b.detach().numpy()
    np.testing.assert_allclose(left.detach().numpy(), expected)
    np.testing.assert_allclose(right.detach().numpy(), expected.transpose(0, 2, 1))
    assert ("CloneBackward0" in lines_of(left), "MmBackward0" in lines_of(right)) == ("a" in wanted,) * 2
    assert all(torch.autograd.gradcheck(torch.matmul, pair) for pair in ((a, b), (b.transpose(1, 2), a.transpose(1, 2))))
    (left + right.transpose(1, 2)).sum().backward()
    for x, summed in ((a, b.sum((0, 2)).expand(2, 3)[None]), (b, a.sum((0, 1))[:, None].expand(4, 3, 5))):
        if x.requires_grad:
            np.testing.assert_allclose(x.grad.numpy(), 2 * summed.detach().numpy())


@differs("the graph of `nn.functional.linear`", "a TBackward0 between them")
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_of_a_layer_leads_to_its_weight(bias):
    x, w, b = (torch.ones(sizes, requires_grad=True) for sizes in ((4, 2), (3, 2), (3,)))
    node = F.linear(x, w, b if bias else None).grad_fn
    assert node.name() == ("AddmmBackward0" if bias else "MmBackward0")
    leaves = [b, x, w] if bias else [x, w]
    assert all(n.variable is leaf for (n, _), leaf in zip(node.next_functions, leaves, strict=True))
    assert node._saved_mat2.shape == (2, 3) and node._saved_mat2_sym_strides == (1, 2)


@pytest.mark.parametrize("name, shapes", [("mm", ((3, 0), (0, 2))), ("mv", ((3, 0), (0,))), ("bmm", ((2, 2, 0), (2, 0, 2)))])
def test_products_of_no_bools_at_all(name, shapes):
    a, b = [torch.zeros(*shape, dtype=torch.bool) for shape in shapes]
    y = getattr(torch, name)(a, b)
    assert y.dtype is torch.bool and not y.any()
    with pytest.raises(NotImplementedError, match='"dot" not implemented for \'Bool\''):
        torch.dot(torch.zeros(0, dtype=torch.bool), torch.zeros(0, dtype=torch.bool))


def test_sizes_of_what_is_saved():
    a = leaf(np.ones((1, 3, 2)).tolist())
    node = torch.addbmm(a[0] @ a[0].t(), a, a.mT).grad_fn
    sizes = (node._saved_batch1_sym_argsize_0, node._saved_batch1_sym_argsize_1, node._saved_batch1_sym_argsize_minus_1)
    assert sizes == (1, 3, 2)
    with pytest.raises(AttributeError, match="_saved_other_sym_argsize_0"):
        _ = node._saved_other_sym_argsize_0
