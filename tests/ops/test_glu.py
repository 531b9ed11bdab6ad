"""glu: in layouts other than C order, along each dimension, and of an input whose memory was resized."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.graph.tensor import array_of


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_values_and_gradients_along_each_dimension(dim, dtype):
    values = np.random.default_rng(0).normal(size=(6, 2, 4)).astype(dtype)
    seed = np.random.default_rng(1).normal(size=np.split(values, 2, dim)[0].shape).astype(dtype)
    for layout in (values, values.transpose(2, 0, 1).copy().transpose(1, 2, 0), values[::-1].copy()[::-1]):
        x = ag.from_numpy(layout).requires_grad_()
        y = ag.nn.functional.glu(x, dim)
        y.backward(ag.from_numpy(seed))
        a, b = np.split(values.astype(float), 2, dim)
        s = 1 / (1 + np.exp(-b))
        slopes = np.concatenate([seed * s, seed * a * s * (1 - s)], dim)
        near = {"rtol": 1e-2, "atol": 1e-3} if dtype == np.float16 else {"rtol": 1e-5, "atol": 1e-6}
        np.testing.assert_allclose(y.detach().numpy(), a * s, **near)
        np.testing.assert_allclose(x.grad.numpy(), slopes, **near)
        assert y.dtype == x.grad.dtype == x.dtype


def test_it_is_one_node():
    x = ag.ones(2, 4, requires_grad=True)
    node = ag.nn.functional.glu(x).grad_fn
    assert node.name() == "GluBackward0" and [type(n).__name__ for n, _ in node.next_functions] == ["AccumulateGrad"]
    assert node._saved_self is x


def test_memory_that_was_resized_is_an_error():
    x = ag.from_numpy(np.ones(4)).requires_grad_()
    y = ag.nn.functional.glu(x * 1)
    array_of(y.grad_fn._saved_self).resize((2,), refcheck=False)
    with pytest.raises(RuntimeError, match="the memory of a saved tensor was resized"):
        y.backward(ag.ones(2, dtype=ag.float64))
