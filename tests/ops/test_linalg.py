"""Linear algebra beyond the rows of the op table: what is refused, singular matrices, sizes of several blocks."""

import numpy as np
import pytest
from common import leaf

import autograd_cy as ag

rng = np.random.default_rng(0)


def matrices(*sizes, dtype="float64"):
    made = rng.normal(size=sizes)
    return np.asarray(made + 1j * rng.normal(size=sizes) if dtype.startswith("complex") else made, dtype)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 33, 70])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
def test_triangular_systems_of_several_blocks(n, dtype, upper, unitriangular):
    a = (matrices(2, n, n, dtype=dtype) / n + np.eye(n)).astype(dtype)
    b = matrices(n, 3, dtype=dtype)
    x = ag.linalg.solve_triangular(ag.tensor(a), ag.tensor(b), upper=upper, unitriangular=unitriangular).numpy()
    triangle = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        triangle = triangle - triangle * np.eye(n) + np.eye(n)
    assert x.dtype == dtype
    near = 1e-3 if dtype in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(triangle @ x, np.broadcast_to(b, x.shape), rtol=near, atol=near)


SINGULAR = np.stack([np.eye(2), np.ones((2, 2))])
NOT_POSITIVE = np.stack([np.eye(2), np.diag([1.0, -1.0])])
REFUSED = {
    "inv": (lambda: ag.linalg.inv(ag.ones(2, 2)), "linalg.inv: The diagonal element 2 is zero, the inversion could not be"),
    "inv of a batch": (lambda: ag.linalg.inv(ag.tensor(SINGULAR)), r"\(Batch element 1\): The diagonal element 2 is zero"),
    "inv_ex": (lambda: ag.linalg.inv_ex(ag.ones(2, 2), check_errors=True), "linalg.inv_ex: The diagonal element 2 is zero"),
    "solve": (lambda: ag.linalg.solve(ag.ones(2, 2), ag.ones(2)), "torch.linalg.solve: The solver failed because the input"),
    "cholesky": (lambda: ag.linalg.cholesky(ag.tensor(NOT_POSITIVE)), "leading minor of order 2 is not positive-definite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(ag.linalg.LinAlgError, match=message):
        call()


def test_info_tells_which_matrices_fail():
    inverse, info = ag.linalg.inv_ex(ag.tensor(SINGULAR))
    assert info.tolist() == [0, 2] and inverse[0].tolist() == [[1, 0], [0, 1]]
    assert ag.linalg.cholesky_ex(ag.tensor(NOT_POSITIVE)).info.tolist() == [0, 2]
    assert ag.linalg.solve_ex(ag.tensor(SINGULAR), ag.ones(2, 1).double()).info.tolist() == [0, 2]


@pytest.mark.parametrize("a", [np.ones((2, 2)), np.diag([1.0, 2.0, 0.0]), np.zeros((2, 2)), np.zeros((3, 3))], ids=str)
def test_the_gradient_of_a_determinant_that_is_zero(a):
    assert ag.testing.check_gradients(ag.linalg.det, leaf(a)).outcome == "right"


VECTORS = {
    "svd": lambda x: ag.linalg.svd(x, full_matrices=False).U.real.sum(),
    "eigh": lambda x: ag.linalg.eigh(x + x.transpose(0, 1).conj()).eigenvectors.real.sum(),
    "eig": lambda x: ag.linalg.eig(x).eigenvectors.real.sum(),
}


@pytest.mark.parametrize("name", VECTORS)
def test_losses_that_depend_on_a_phase_are_refused(name):
    x = ag.tensor(matrices(3, 3, dtype="complex128"), requires_grad=True)
    with pytest.raises(RuntimeError, match=f"{name}_backward: The .* specified up to multiplication by e"):
        VECTORS[name](x).backward()


@pytest.mark.parametrize("mode, sizes, message", [
    ("r", (2, 2), "The derivative of linalg.qr depends on Q"),
    ("complete", (3, 2), "QR decomposition is not differentiable when mode='complete' and nrows > ncols"),
])
def test_modes_of_qr_without_a_derivative(mode, sizes, message):
    y = ag.linalg.qr(ag.tensor(matrices(*sizes), requires_grad=True), mode).R.sum()
    with pytest.raises(RuntimeError, match=message):
        y.backward()


def test_a_write_to_an_output_that_was_saved_is_found():
    values, vectors = ag.linalg.eigh(leaf(np.diag([1.0, 2.0])))
    vectors.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        values.sum().backward()


def test_saved_outputs_go_through_hooks():
    packed = []
    with ag.autograd.graph.saved_tensors_hooks(lambda x: packed.append(x) or x, lambda x: x):
        y = ag.linalg.svd(leaf(np.diag([1.0, 2.0])), full_matrices=False)
    assert len(packed) == 3
    y.S.sum().backward()


def test_sums_with_products_in_place_on_a_view():
    x, a, b = leaf(matrices(2, 3)), leaf(matrices(2)), leaf(matrices(3))
    copy = x.transpose(0, 1).clone()
    copy.transpose(0, 1).addr_(a, b, beta=2, alpha=3)
    copy.square().sum().backward()
    found = [y.grad.clone() for y in (x, a, b)]
    for y in (x, a, b):
        y.grad = None
    ag.addr(x, a, b, beta=2, alpha=3).square().sum().backward()
    for g, y in zip(found, (x, a, b), strict=True):
        np.testing.assert_allclose(g.numpy(), y.grad.numpy())
