"""Reductions whose squares, powers or sums leave the range of their type, or whose elements are infinite or absent."""

import math

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
SCALES = [(ag.float32, 1e30), (ag.float32, 1e-30), (ag.float64, 1e200), (ag.float64, 1e-200), (ag.float32, 1.0)]
ORDERS = [2, 1, 3, 0.5, -1, -2, math.inf, -math.inf]


@pytest.mark.parametrize(("dtype", "scale"), SCALES, ids=str)
@pytest.mark.parametrize("ord", ORDERS)
@pytest.mark.parametrize("form", ["all", "rows", "columns, kept", "complex"])
def test_norms_scale_with_their_elements(ord, dtype, scale, form):
    """norm(s * x) is s * norm(x); squares overflowed, or vanished. So are derivatives: the same, and 1 / s times those."""
    numbers = [[3.0, 4.0, 1.0], [0.5, -2.0, 8.0]]
    dim = {"all": None, "rows": 1, "columns, kept": 0, "complex": None}[form]

    def derivatives(factor, of):
        x = ag.tensor(numbers, dtype=of) * factor
        x = (ag.complex(x, x.flip(0)) if form == "complex" else x).requires_grad_()
        y = ag.linalg.vector_norm(x, ord, dim, keepdim=form == "columns, kept")
        (first,) = ag.autograd.grad(y.sum(), x, create_graph=True)
        if not first.requires_grad or ord in (1, math.inf, -math.inf):
            return y / factor, first, first * 0
        weights = ag.arange(6.0, dtype=of).reshape(2, 3)
        (second,) = ag.autograd.grad((ag.view_as_real(first).sum(-1) if first.is_complex() else first) * weights, x,
                                     ag.ones(2, 3, dtype=of))
        return y / factor, first, second * factor

    rtol = 3e-6 if dtype == ag.float32 else 1e-13
    for got, wanted in zip(derivatives(scale, dtype), derivatives(1.0, ag.float64), strict=True):
        got, wanted = got.detach().numpy(), wanted.detach().numpy()
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max())


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_what_is_made_of_norms(scale):
    x = ag.tensor([[3.0, 4.0], [6.0, 8.0]]) * scale
    for got, wanted in [(ag.linalg.matrix_norm(x), math.sqrt(125) * scale), (ag.linalg.norm(x), math.sqrt(125) * scale),
                        (x.norm(), math.sqrt(125) * scale),
                        (F.normalize(x * 1e3, dim=1)[0, 0] if scale > 1 else ag.tensor(0.6), 0.6)]:
        assert got.item() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("ord", [2, 3, 0.5, -2])
def test_norms_of_zeros_and_of_what_is_not_finite(ord):
    assert ag.linalg.vector_norm(ag.zeros(3), ord).item() == 0
    assert math.isnan(ag.linalg.vector_norm(ag.tensor([math.nan, 1.0]), ord).item())
    assert ag.linalg.vector_norm(ag.tensor([math.inf, 1.0]), ord).item() == (math.inf if ord > 0 else 1)
    x = ag.zeros(3, requires_grad=True)
    (g,) = ag.autograd.grad(ag.linalg.vector_norm(x, ord), x, create_graph=True)
    assert g.tolist() == [0, 0, 0]
    assert ag.autograd.grad(g.sum(), x)[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("ord", [2, 3])
@pytest.mark.parametrize("form", ["rows", "columns, kept", "batch"])
def test_norms_out_of_range_beside_others(ord, form):
    """Only sums that left the range are computed again: zeros and ordinary rows have the bits that they have alone."""
    rows = np.array([
        [3.0, 4.0, 1.0], [0, 0, 0], [3e-30, 4e-30, 1e-30], [3e30, -4e30, 1e30], [math.inf, 1, 1], [1, math.nan, 1],
        [0.5, 0.25, 8],
    ], np.float32)  # fmt: skip
    wanted = [ag.linalg.vector_norm(ag.tensor(row), ord).item() for row in rows]
    x = ag.tensor(rows)
    if form == "rows":
        y = ag.linalg.vector_norm(x, ord, 1)
    elif form == "batch":
        y = ag.linalg.vector_norm(x.reshape(7, 1, 3, 1).expand(7, 1, 3, 1), ord, (3, 1, 2))
    else:
        y = ag.linalg.vector_norm(x.T, ord, 0, keepdim=True)[0]
    np.testing.assert_array_equal(y.numpy(), np.array(wanted, np.float32))


PRODUCTS = {
    "dot": lambda x: ag.dot(x, x), "vdot": lambda x: ag.vdot(x, x), "inner": lambda x: ag.inner(x, x),
    "mv": lambda x: ag.mv(x[None], x)[0], "mm": lambda x: ag.mm(x[None], x[:, None])[0, 0], "matmul": lambda x: x @ x,
    "bmm": lambda x: ag.bmm(x[None, None], x[None, :, None])[0, 0, 0], "einsum": lambda x: ag.einsum("i,i->", x, x),
    "tensordot": lambda x: ag.tensordot(x, x, 1), "linear": lambda x: F.linear(x, x[None])[0],
    "vecdot": lambda x: ag.linalg.vecdot(x, x),
}


@pytest.mark.parametrize("product", PRODUCTS)
def test_long_sums_of_products(product):
    """Of 2e6 float32 numbers: BLAS, which sums in float32, was off by 1e-4."""
    x = np.random.default_rng(0).random(2_000_000, dtype=np.float32)
    wanted = float(np.dot(x.astype(np.float64), x.astype(np.float64)))
    assert PRODUCTS[product](ag.tensor(x)).item() == pytest.approx(wanted, rel=2e-7)


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("layout", ["rows", "columns", "batch", "one for the batch"])
def test_long_sums_of_products_with_few_columns(rows, columns, layout):
    """BLAS, which sums in float32, was off by 1e-5."""
    n, batch = 100_000, 3 if "batch" in layout else 1
    numbers = np.random.default_rng(0)
    a = numbers.random((batch, rows, n), dtype=np.float32)
    b = numbers.random((1 if layout == "one for the batch" else batch, n, columns), dtype=np.float32)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    x, y = ag.tensor(a), ag.tensor(b)
    if layout == "columns":
        y = y.transpose(1, 2).contiguous().transpose(1, 2)
    if "batch" not in layout:
        x, y, wanted = x[0], y[0], wanted[0]
    np.testing.assert_allclose((x @ y).numpy(), wanted, rtol=2e-7)
    turned = (y.transpose(-2, -1) @ x.transpose(-2, -1)).transpose(-2, -1)
    np.testing.assert_allclose(turned.numpy(), wanted, rtol=2e-7)


def test_long_sums_of_products_of_a_batch():
    x = np.random.default_rng(1).random((3, 2, 5000), dtype=np.float32)
    wanted = np.einsum("bij,bj->bi", x.astype(np.float64), x[:, 0].astype(np.float64))
    np.testing.assert_allclose(ag.bmm(ag.tensor(x), ag.tensor(x[:, 0, :, None])).numpy()[..., 0], wanted, rtol=2e-7)
    np.testing.assert_allclose(ag.mv(ag.tensor(x[0]), ag.tensor(x[0, 0])).numpy(), wanted[0], rtol=2e-7)
    spaced = ag.tensor(np.repeat(x[0], 2, 1))[:, ::2]
    np.testing.assert_allclose(ag.mv(spaced, ag.tensor(x[0, 0])).numpy(), wanted[0], rtol=2e-6)


def test_logcumsumexp_that_starts_with_minus_infinity():
    """exp(-inf + inf) was NaN. A result of -inf alone is that element, so its derivative is 1."""
    x = ag.tensor([-math.inf, 0.0, 1.0], dtype=ag.float64, requires_grad=True)
    y = ag.logcumsumexp(x, 0)
    (g,) = ag.autograd.grad(y.sum(), x, retain_graph=True)
    s = 1 / (1 + math.exp(-1))
    assert g.tolist() == pytest.approx([1, 2 - s, s])
    (g,) = ag.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == pytest.approx([1, 2 - s, s])
    (h,) = ag.autograd.grad(g[2], x)
    assert h.tolist() == pytest.approx([0, -s * (1 - s), s * (1 - s)])


@pytest.mark.parametrize("target", [2.0, -0.5, math.nan])
def test_binary_cross_entropy_refuses_targets_that_are_no_probabilities(target):
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        F.binary_cross_entropy(ag.tensor([0.5]), ag.tensor([target]))


def test_batch_norm_of_an_empty_batch():
    """The weight's gradient was NaN."""
    x, w, b = ag.zeros(0, 3, requires_grad=True), ag.ones(3, requires_grad=True), ag.zeros(3, requires_grad=True)
    F.batch_norm(x, None, None, w, b, True).sum().backward()
    assert (w.grad.tolist(), b.grad.tolist(), x.grad.shape) == ([0, 0, 0], [0, 0, 0], (0, 3))
