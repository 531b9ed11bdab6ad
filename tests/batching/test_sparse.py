"""sparse_jacobian() and sparse_hessian(): the full matrix, by few products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_cy as ag
from autograd_cy.func import _sparse, hessian, jacrev, sparse_hessian, sparse_jacobian

sparse = pytest.importorskip("scipy.sparse")

MODES = pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])


def neighbours(x):
    """A function whose Jacobian is tridiagonal."""
    y = x**3
    return ag.cat([y[:1] * 2 + x[1:2], y[1:-1] * x[:-2] + x[2:], y[-1:] + x[-2:-1]])


def tridiagonal(n):
    return sparse.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])


def random_vector(n, seed=0):
    return ag.tensor(np.random.default_rng(seed).standard_normal(n))


@pytest.fixture
def products(monkeypatch):
    """How many products with vectors were computed."""
    counts = []
    for name in ("forward", "reverse"):
        method = getattr(_sparse._Problem, name)

        def counted(problem, vectors, method=method):
            counts.append(len(vectors))
            return method(problem, vectors)

        monkeypatch.setattr(_sparse._Problem, name, counted)
    return counts


def test_a_tridiagonal_jacobian_takes_three_products(products):
    n = 10_000
    x = random_vector(n)
    matrix = sparse_jacobian(neighbours, pattern=tridiagonal(n), check=False)(x)
    assert products == [3]
    assert matrix.shape == (n, n) and matrix.nnz == 3 * n - 2
    products.clear()
    checked = sparse_jacobian(neighbours, pattern=tridiagonal(n))(x)
    assert products == [3, 1] and (checked != matrix).nnz == 0
    products.clear()
    probed = sparse_jacobian(neighbours)(x)
    assert sum(products) < 100 and abs(probed - matrix).max() < 1e-12


FUNCTIONS = {
    "neighbours": (neighbours, 12),
    "one number": (lambda x: x.sum(), 12),
    "a row of all": (lambda x: ag.cat([x * 2, x.sum().reshape(1)]), 12),
    "a column of all": (lambda x: x * x[0], 12),
    "nothing": (lambda x: x * 0, 12),
    "constant": (lambda x: ag.ones(3, dtype=x.dtype), 12),
    "no elements": (lambda x: x[:0], 12),
    "of no elements": (lambda x: ag.cat([x, ag.ones(2, dtype=x.dtype)]), 0),
    "of one element": (lambda x: x.sin(), 1),
    "many to few": (lambda x: x.reshape(3, 4).prod(1), 12),
    "few to many": (lambda x: x.expand(5, 12) * 2, 12),
    "products of matrices": (lambda x: x.reshape(3, 4) @ x.reshape(4, 3), 12),
    "permuted": (lambda x: x.roll(5).flip(0) ** 2, 12),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@MODES
@pytest.mark.parametrize("chunk_size", [None, 2])
def test_the_probed_jacobian_is_the_full_one(name, mode, chunk_size):
    f, n = FUNCTIONS[name]
    x = random_vector(n)
    expected = jacrev(f)(x).numpy().reshape(f(x).numel(), n)
    found = sparse_jacobian(f, mode=mode, chunk_size=chunk_size)(x)
    assert isinstance(found, sparse.csr_array) and found.shape == expected.shape
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12, atol=1e-14)
    assert found.nnz == np.count_nonzero(expected)
    pattern = (expected != 0).astype(int)
    for given_pattern in (pattern, sparse.coo_array(pattern), ag.tensor(pattern != 0), np.ones_like(pattern)):
        again = sparse_jacobian(f, pattern=given_pattern, mode=mode)(x)
        np.testing.assert_allclose(again.toarray(), expected, rtol=1e-12, atol=1e-14)


@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1), st.floats(0, 1),
    st.sampled_from(["auto", "forward", "reverse"]),
)  # fmt: skip
def test_random_patterns(m, n, seed, density, mode):
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((m, n)) * (random.random((m, n)) < density)
    a, x = ag.tensor(matrix), ag.tensor(random.standard_normal(n))
    for pattern in (None, matrix != 0):
        found = sparse_jacobian(lambda x: a @ x, pattern=pattern, mode=mode)(x)
        np.testing.assert_allclose(found.toarray(), matrix, rtol=1e-12, atol=1e-14)
        assert found.nnz == np.count_nonzero(matrix)


@MODES
def test_a_pattern_that_lacks_an_entry_is_found_out(mode):
    x = random_vector(8)
    pattern = np.array(tridiagonal(8).toarray())
    pattern[5, 4] = 0
    with pytest.raises(ValueError, match="nonzero where the pattern has none, in row 5"):
        sparse_jacobian(neighbours, pattern=pattern, mode=mode)(x)


def test_a_diagonal_takes_one_product(products):
    x = random_vector(50)
    found = sparse_jacobian(ag.sin, pattern=sparse.eye_array(50), check=False)(x)
    assert products == [1]
    np.testing.assert_allclose(found.diagonal(), np.cos(x.numpy()))


def test_hessians():
    def f(x):
        return ((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2).sum()

    x = random_vector(20)
    found = sparse_hessian(f)(x)
    np.testing.assert_allclose(found.toarray(), hessian(f)(x).numpy(), rtol=1e-12)
    assert found.nnz == 3 * 20 - 2
    again = sparse_hessian(f, pattern=found)(random_vector(20, 1))
    np.testing.assert_allclose(again.toarray(), hessian(f)(random_vector(20, 1)).numpy(), rtol=1e-12)


def test_arguments():
    def f(a, x, *, b):
        return x * a + b

    found = sparse_jacobian(f, 1)(ag.tensor(2.0), ag.ones(2, 2), b=1)
    assert found.toarray().tolist() == (2 * np.eye(4)).tolist() and found.dtype == np.float32
    assert sparse_jacobian(f, -1)(ag.tensor(2.0), ag.ones(2), b=1).toarray().tolist() == (2 * np.eye(2)).tolist()
    x = ag.ones(2, requires_grad=True)
    assert sparse_jacobian(f, 0)(x, 3.0, b=x).toarray().tolist() == (3 * np.eye(2)).tolist()
    assert x.grad is None


def test_complex_functions():
    x = ag.tensor([1 + 2j, 3 - 1j, 0.5j])
    found = sparse_jacobian(lambda z: z[1:] * z[:-1])(x)
    np.testing.assert_allclose(found.toarray(), [[3 - 1j, 1 + 2j, 0], [0, 0.5j, 3 - 1j]], rtol=1e-6)


def test_what_is_refused():
    x = ag.ones(3)
    for call, error, message in [
        (lambda: sparse_jacobian(ag.sin, mode="both"), ValueError, "mode must be"),
        (lambda: sparse_jacobian(ag.sin, 1)(x), ValueError, "argnums=1 must be the number of an argument"),
        (lambda: sparse_jacobian(ag.sin, pattern=np.eye(2))(x), ValueError, r"pattern has shape \(2, 2\)"),
        (lambda: sparse_jacobian(ag.sin, pattern=np.ones(3))(x), ValueError, "must be a matrix"),
        (lambda: sparse_jacobian(lambda x: (x, x))(x), RuntimeError, "Expected func to return a Tensor"),
        (lambda: sparse_hessian(ag.sin)(x), RuntimeError, "return a scalar Tensor"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    with pytest.raises(ImportError, match=r"autograd_cy\[sparse\]"):
        sparse_jacobian(ag.sin)(ag.ones(3))
