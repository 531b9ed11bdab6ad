"""linear_transpose(): the product with the transposed matrix of a linear function; Jacobians of holomorphic functions."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import func

DTYPES = [ag.float32, ag.float64, ag.complex64, ag.complex128]


def drawn(*sizes, dtype=ag.float64, seed=0):
    x = np.random.default_rng(seed).standard_normal((2, *sizes))
    return ag.tensor(x[0] + 1j * x[1] if dtype.is_complex else x[0], dtype=dtype)


def matrix_of(f, x):
    """The matrix of a linear function of one tensor, column by column."""
    units = np.eye(x.numel()).reshape(-1, *x.shape)
    return np.stack([f(ag.tensor(u, dtype=x.dtype)).numpy().ravel() for u in units], 1)


LINEAR = {
    "a convolution": lambda x: ag.nn.functional.conv1d(x.reshape(1, 1, 6), ag.ones(2, 1, 3, dtype=x.dtype)),
    "a product with a matrix": lambda x: drawn(4, 6, dtype=x.dtype, seed=1) @ x,
    "indices and sums": lambda x: ag.cat([x[[0, 0, 3]], x.sum().reshape(1), x.flip(0) * 2]),
    "a cumulated sum, in place": lambda x: x.clone().mul_(3).cumsum(0),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LINEAR)
def test_it_is_the_transposed_matrix(name, dtype):
    f, x = LINEAR[name], ag.zeros(6, dtype=dtype)
    y = f(x)
    v = drawn(*y.shape, dtype=dtype, seed=2)
    (found,) = func.linear_transpose(f, x)(v)
    accuracy = 1e-4 if dtype in (ag.float32, ag.complex64) else 1e-12
    np.testing.assert_allclose(found.numpy(), matrix_of(f, x).T @ v.numpy().ravel(), rtol=accuracy)


def test_several_inputs_and_outputs_in_their_structures():
    def f(a, pair):
        return {"sum": a + pair[0], "twice": 2 * pair[1]}

    a, v = ag.zeros(2), ag.ones(2)
    back = func.linear_transpose(f, a, (ag.ones(2), ag.ones(1)))
    found = back({"sum": v, "twice": ag.tensor([3.0])})
    assert [found[0].tolist(), found[1][0].tolist(), found[1][1].tolist()] == [[1, 1], [1, 1], [6]]


def test_the_transpose_of_the_transpose_is_the_function():
    f = LINEAR["a product with a matrix"]
    x, v = drawn(6), drawn(4, seed=3)
    back = func.linear_transpose(f, x)
    again = func.linear_transpose(lambda v: back(v)[0], v)
    np.testing.assert_allclose(again(x)[0].numpy(), f(x).numpy(), rtol=1e-12)


def test_it_is_differentiable_and_can_be_mapped():
    w = drawn(3, 2).requires_grad_()
    back = func.linear_transpose(lambda x: w @ x, ag.zeros(2, dtype=ag.float64))
    v = drawn(3, seed=1)
    back(v)[0].sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), np.repeat(v.numpy()[:, None], 2, 1))
    vs = drawn(4, 3, seed=2)
    found = func.vmap(lambda v: func.linear_transpose(lambda x: w @ x, ag.zeros(2, dtype=ag.float64))(v)[0])(vs)
    np.testing.assert_allclose(found.detach().numpy(), vs.numpy() @ w.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize("f", [lambda x: x + 1, lambda x: x * x, ag.abs, ag.relu, lambda x: x.clamp(-0.5, 0.5)])
def test_what_is_not_linear_is_refused(f):
    with pytest.raises(RuntimeError, match="isn't linear"):
        func.linear_transpose(f, ag.zeros(5))


@pytest.mark.parametrize("f", [ag.conj, ag.real, lambda x: x + x.conj(), ag.abs])
def test_what_is_linear_over_the_reals_only_is_refused(f):
    with pytest.raises(RuntimeError, match="isn't linear"):
        func.linear_transpose(f, ag.zeros(3, dtype=ag.complex64))


def test_real_to_complex_is_linear():
    (found,) = func.linear_transpose(lambda x: x * (1 + 2j), ag.zeros(2))(ag.tensor([1 + 1j, 1j]))
    assert found.tolist() == [-1.0, -2.0]


def test_one_element_of_many_that_is_not_linear_is_refused():
    with pytest.raises(RuntimeError, match="isn't linear"):
        func.linear_transpose(lambda x: ag.cat([x[:1] ** 2 + x[:1], x[1:]]), ag.zeros(100_000))
    with pytest.raises(RuntimeError, match="at least one primal"):
        func.linear_transpose(lambda: ag.ones(2))


HOLOMORPHIC = {
    "exp": (ag.exp, np.exp),
    "a quotient": (lambda z: 1 / (z + 3), lambda z: -1 / (z + 3) ** 2),
    "a power": (lambda z: z**3, lambda z: 3 * z**2),
}


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd])
@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_jacobians_of_holomorphic_functions(transform, name):
    f, derivative = HOLOMORPHIC[name]
    z = drawn(3, dtype=ag.complex128)
    found = transform(f, holomorphic=True)(z)
    np.testing.assert_allclose(found.numpy(), np.diag(derivative(z.numpy())), rtol=1e-12)


def test_a_matrix_is_its_jacobian_and_a_cube_has_its_hessian():
    m, z = drawn(2, 3, dtype=ag.complex128), drawn(3, dtype=ag.complex128, seed=1)
    for transform in (func.jacrev, func.jacfwd):
        np.testing.assert_allclose(transform(lambda z: m @ z, holomorphic=True)(z).numpy(), m.numpy(), rtol=1e-12)
    found = func.hessian(lambda z: (z**3).sum(), holomorphic=True)(z)
    np.testing.assert_allclose(found.numpy(), np.diag(6 * z.numpy()), rtol=1e-12)


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd])
def test_real_numbers_have_no_complex_derivative(transform):
    with pytest.raises(RuntimeError, match="inputs to be complex with holomorphic=True but received a tensor"):
        transform(ag.exp, holomorphic=True)(ag.ones(2))
    with pytest.raises(RuntimeError, match="outputs to be complex with holomorphic=True"):
        transform(ag.abs, holomorphic=True)(ag.ones(2, dtype=ag.complex64))
    with pytest.raises(RuntimeError, match="inputs to be real but received complex"):
        transform(ag.exp)(ag.ones(2, dtype=ag.complex64))
