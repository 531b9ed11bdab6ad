"""Dense tensors written with sparse ones, and nn.functional.linear of sparse vectors: what PyTorch computes and refuses."""

import numpy as np
import pytest

import autograd_cy as ag

SPARSE = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 3.0]])
LAYOUTS = ["to_sparse", "to_sparse_csr"]


def sparse(layout="to_sparse", grad=False):
    return getattr(ag.tensor(SPARSE), layout)().requires_grad_(grad)


def dense():
    return ag.arange(6.0, dtype=ag.float64).reshape(2, 3) + 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["mul_", "multiply_", "__imul__"])
def test_a_dense_tensor_is_multiplied_in_place(layout, name):
    x = dense()
    assert getattr(x, name)(sparse(layout)) is x
    assert np.array_equal(x.numpy(), dense().numpy() * SPARSE)


def test_a_sparse_factor_is_broadcast():
    x = ag.ones(4, 2, 3, dtype=ag.float64).mul_(sparse())
    assert np.array_equal(x.numpy(), np.broadcast_to(SPARSE, (4, 2, 3)))


def test_the_gradients_of_both():
    x, s = dense().requires_grad_(), sparse(grad=True)
    (x * 1).mul_(s).sum().backward()
    assert np.array_equal(x.grad.to_dense().numpy(), SPARSE)
    assert np.array_equal(s.grad.to_dense().numpy(), dense().numpy() * (SPARSE != 0))


def test_what_does_not_fit_is_refused():
    with pytest.raises(RuntimeError):
        ag.ones(2, 3, dtype=ag.int64).mul_(sparse())
    for divide in (lambda x, s: x / s, lambda x, s: x.div_(s)):
        with pytest.raises(RuntimeError, match="Sparse division requires a scalar or zero-dim dense tensor divisor"):
            divide(dense(), sparse())


@pytest.mark.parametrize("bias", [None, np.array([1.0, 2.0])])
def test_linear_of_a_sparse_vector(bias):
    v, b = np.array([0.0, 2.0, 5.0]), None if bias is None else ag.tensor(bias)
    y = ag.nn.functional.linear(ag.tensor(v).to_sparse(), dense(), b)
    assert y.shape == (2,) and np.array_equal(y.numpy(), dense().numpy() @ v + (0 if bias is None else bias))


def test_linear_by_a_sparse_vector():
    v = np.array([0.0, 2.0, 5.0])
    y = ag.nn.functional.linear(dense(), ag.tensor(v).to_sparse())
    assert y.shape == (2,) and np.array_equal(y.numpy(), dense().numpy() @ v)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sparse_bias_is_refused(layout):
    for x in (dense(), sparse(layout)):
        with pytest.raises(RuntimeError, match="expand is unsupported for Sparse tensors"):
            ag.nn.functional.linear(x, ag.ones(2, 3, dtype=ag.float64), ag.ones(2, dtype=ag.float64).to_sparse())
