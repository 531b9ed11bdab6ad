"""Derivatives of determinants where matrices are singular or nearly so, compared with cofactors in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from common import leaf

import autograd_cy as ag

rng = np.random.default_rng(0)


def without(rows, i, j):
    return [[x for q, x in enumerate(row) if q != j] for p, row in enumerate(rows) if p != i]


def exact_det(rows):
    if not rows:
        return Fraction(1)
    return sum((-1) ** j * rows[0][j] * exact_det(without(rows, 0, j)) for j in range(len(rows)))


def exact_cofactors(rows):
    n = len(rows)
    return [[(-1) ** (i + j) * exact_det(without(rows, i, j)) for j in range(n)] for i in range(n)]


def exact_second(rows, direction):
    """The derivative of the cofactors' sum, weighted by `direction`."""
    n = len(rows)
    total = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            others = exact_cofactors(without(rows, i, j))
            for p, k in enumerate(k for k in range(n) if k != i):
                for q, m in enumerate(m for m in range(n) if m != j):
                    total[k][m] += (-1) ** (i + j) * direction[i][j] * others[p][q]
    return total


def fractions(array):
    return [[Fraction(x) for x in row] for row in array.tolist()]


def singular_matrices(count):
    """Multiples of 0.1 whose last row is a sum of others, up to rounding; some have rank n - 2."""
    for k in range(count):
        n = int(rng.integers(2, 6))
        a = rng.integers(-9, 10, (n, n)) * 0.1
        for row in (-1, -2) if k % 5 == 0 and n > 2 else (-1,):
            a[row] = a[:row].T @ rng.integers(-2, 3, n + row)
        yield a


@pytest.mark.parametrize("dtype, near", [("float64", 1e-12), ("float32", 1e-4)])
def test_derivatives_of_determinants_of_singular_matrices_are_cofactors(dtype, near):
    for a in singular_matrices(200):
        a = a.astype(dtype)
        x, direction = ag.tensor(a, requires_grad=True), rng.integers(-3, 4, a.shape)
        exact = fractions(a)
        first = np.array(exact_cofactors(exact), float)
        second = np.array(exact_second(exact, direction.tolist()), float)
        (g,) = ag.autograd.grad(ag.linalg.det(x), x)
        np.testing.assert_allclose(g.numpy(), first, atol=near)
        (g,) = ag.autograd.grad(ag.linalg.det(x), x, create_graph=True)
        np.testing.assert_allclose(g.detach().numpy(), first, atol=near)
        v = ag.tensor(direction.astype(dtype))
        (h,) = ag.autograd.grad((g * v).sum(), x)
        np.testing.assert_allclose(h.numpy(), second, atol=4 * near)
        _y, tangent = ag.func.jvp(ag.linalg.det, (x.detach(),), (v,))
        np.testing.assert_allclose(tangent.item(), (first * direction).sum(), atol=20 * near)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("rank", ["full", "less"])
def test_all_derivatives_of_determinants(n, dtype, rank):
    a = rng.normal(size=(2, n, n)) + (1j * rng.normal(size=(2, n, n)) if dtype == "complex128" else 0)
    if rank == "less" and n:
        a[1, -1] = (0.1 + 0.2) / 0.3 * a[1, 0] if n > 1 else 0
    x = ag.tensor(a, requires_grad=True)
    assert ag.autograd.gradcheck(ag.linalg.det, x, check_forward_ad=True, check_batched_grad=True)
    assert ag.autograd.gradgradcheck(ag.linalg.det, x, check_fwd_over_rev=True, check_rev_over_rev=True)

    def squared(x):
        y = ag.linalg.det(x)
        return ag.autograd.grad((y.conj() * y).real.sum(), x, create_graph=True)[0]

    assert ag.autograd.gradgradcheck(squared, x)


def test_hessians_of_a_batch_of_determinants_by_vmap():
    a = rng.normal(size=(3, 3, 3))
    a[1, 2] = a[1, 0] + a[1, 1]
    hessians = ag.func.vmap(ag.func.hessian(ag.linalg.det))(ag.tensor(a))
    for k in range(3):
        for i, j in np.ndindex(3, 3):
            direction = np.zeros((3, 3), int)
            direction[i, j] = 1
            expected = np.array(exact_second(fractions(a[k]), direction.tolist()), float)
            np.testing.assert_allclose(hessians[k, i, j].numpy(), expected, atol=1e-13)


def test_the_gradient_of_a_complex_determinant_that_rounds_to_zero():
    """It was nan: LAPACK's determinant was not 0, while the elimination met a pivot of 0."""
    x = ag.tensor(np.array([[0.1, 0.3], [0.1, 0.3]]) * (1 + 0.3j), requires_grad=True)
    (g,) = ag.autograd.grad(ag.linalg.det(x).real, x)
    np.testing.assert_allclose(g.numpy(), np.array([[0.3, -0.1], [-0.3, 0.1]]) * (1 - 0.3j))


@pytest.mark.parametrize("diagonal", [[1e-200, 1e-200], [1e200, 1e200], [1e-310], [1e-160, 1e-163], [1, 0, 1e-320]], ids=str)
def test_gradients_of_determinants_beyond_the_range_of_floats(diagonal):
    x = leaf(np.diag(diagonal))
    (g,) = ag.autograd.grad(ag.linalg.det(x), x)
    expected = [np.prod([d for k, d in enumerate(diagonal) if k != i]) for i in range(len(diagonal))]
    np.testing.assert_allclose(np.diag(g.numpy()), expected, rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_matrices_that_are_not_finite_have_no_finite_gradient(value):
    a = np.stack([np.eye(2), np.array([[1.0, value], [2.0, 3.0]])])
    x = leaf(a)
    (g,) = ag.autograd.grad(ag.linalg.det(x).sum(), x, create_graph=True)
    assert g[0].tolist() == [[1, 0], [0, 1]] and g[1].isnan().any()
    (h,) = ag.autograd.grad(g.sum(), x)
    assert h[0].isfinite().all() and h[1].isnan().all()


def test_a_matrix_of_one_element_has_the_same_gradient_everywhere():
    x = leaf([[[np.nan]], [[np.inf]], [[0.0]], [[2.0]]])
    (g,) = ag.autograd.grad(ag.linalg.det(x).sum(), x, create_graph=True)
    assert g.flatten().tolist() == [1, 1, 1, 1]
    assert ag.autograd.grad(g.sum(), x)[0].flatten().tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("gap", [1.0, 1e-2, 1e-4, 1e-8, 1e-12, 1e-16])
@pytest.mark.parametrize("dtype, near", [("float64", 1e-8), ("float32", 1e-3)])
def test_second_derivatives_from_far_away_to_singular(gap, dtype, near):
    a, direction = rng.normal(size=(4, 4)), rng.integers(-3, 4, (4, 4))
    a[3] = a[0] + a[1] + gap * a[3]
    batch = np.stack([np.eye(4), a]).astype(dtype)
    x = ag.tensor(batch, requires_grad=True)
    (g,) = ag.autograd.grad(ag.linalg.det(x).sum(), x, create_graph=True)
    (h,) = ag.autograd.grad((g * ag.tensor(direction.astype(dtype))).sum(), x)
    for k in range(2):
        expected = np.array(exact_second(fractions(batch[k]), direction.tolist()), float)
        np.testing.assert_allclose(h[k].numpy(), expected, atol=near * np.abs(expected).max())


def test_the_gradient_of_a_logarithm_where_the_elimination_meets_a_pivot_of_zero():
    """LAPACK's determinant is not 0 there: the inverse is that of the cofactors by it, of first and second order."""
    x = ag.tensor(np.array([[0.1, 0.3], [0.1, 0.3]]) * (1 + 0.3j), requires_grad=True)
    sign, logarithm = ag.linalg.slogdet(x)
    det = sign.detach().numpy() * np.exp(logarithm.detach().numpy())
    assert 0 < abs(det) < 1e-16
    (g,) = ag.autograd.grad(logarithm, x, create_graph=True)
    cofactors = np.array([[0.3, -0.1], [-0.3, 0.1]]) * (1 + 0.3j)
    np.testing.assert_allclose(g.detach().numpy(), (cofactors / det).conj(), rtol=1e-6)
    (h,) = ag.autograd.grad(g[0, 0].real, x)
    assert h.isfinite().all()


@pytest.mark.parametrize("n", [15, 16, 17])
def test_single_precision_is_that_of_its_type(n):
    """Matrices of up to 16 rows are computed in double precision, larger ones in their own."""
    wide = ag.tensor(np.eye(n) + 0.1 * np.random.default_rng(n).normal(size=(n, n)), requires_grad=True)
    narrow = wide.detach().float().requires_grad_()
    for x in (wide, narrow):
        (g,) = ag.autograd.grad(ag.linalg.det(x), x, create_graph=True)
        assert g.dtype is x.dtype
        x.backward((ag.autograd.grad((g * g).sum(), x)[0] + g).detach())
    error = (narrow.grad.double() - wide.grad).abs().max() / wide.grad.abs().max()
    assert error < 1e-5
