"""Gradients at kinks, ties and infinities, which finite differences cannot judge: PyTorch's conventions."""

from math import inf, log, nan

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional

# The expression, its inputs, the gradient of each for a seed of ones.
KINKS = {
    "max shares among ties": (ag.max, [[1, 3, 3]], [[0, 0.5, 0.5]]),
    "max(dim) has one index, the first": (lambda x: ag.max(x, dim=0)[0], [[1, 3, 3]], [[0, 1, 0]]),
    "amax shares": (lambda x: ag.amax(x, dim=0), [[1, 3, 3]], [[0, 0.5, 0.5]]),
    "min shares": (ag.min, [[1, 1, 3]], [[0.5, 0.5, 0]]),
    "min(dim) has one index": (lambda x: ag.min(x, dim=0)[0], [[1, 1, 3]], [[1, 0, 0]]),
    "max at nan": (ag.max, [[nan, 1, nan]], [[0.5, 0, 0.5]]),
    "amax at nan": (ag.amax, [[nan, 1, nan]], [[nan, nan, nan]]),
    "amin(dim) at nan": (lambda x: ag.amin(x, 0), [[0, nan]], [[nan, nan]]),
    "maximum shares": (ag.maximum, [[1, 2], [1, 3]], [[0.5, 0], [0.5, 1]]),
    "minimum shares": (ag.minimum, [[1, 2], [1, 3]], [[0.5, 1], [0.5, 0]]),
    "relu at 0": (ag.relu, [[0, -0.0]], [[0, 0]]),
    "abs at 0": (ag.abs, [[0, -0.0]], [[0, 0]]),
    "abs at complex 0": (ag.abs, [[0j]], [[0j]]),
    "abs at nan": (ag.abs, [[nan, -inf]], [[0, -1]]),
    "sgn at nan": (ag.sgn, [[nan, -inf]], [[0, 0]]),
    "the gradient of abs at nan, recorded": (
        lambda x: ag.autograd.grad(x.abs(), x, ag.ones(2, dtype=x.dtype), create_graph=True)[0] * x, [[nan, 2]], [[0, 1]],
    ),
    "clamp at its edges": (lambda x: ag.clamp(x, -1, 1), [[-1, 1]], [[1, 1]]),
    "clamp outside and at nan": (lambda x: ag.clamp(x, -1, 1), [[2, -2, nan]], [[0, 0, 0]]),
    "clamp with tensors": (
        ag.clamp,
        [[1, 0, 3, 2], [1, 1, 1, 3], [2, 2, 2, 1]],
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]],
    ),
    "sqrt at 0": (ag.sqrt, [[0]], [[inf]]),
    "rsqrt at 0": (ag.rsqrt, [[0]], [[-inf]]),
    "log at 0": (ag.log, [[0]], [[inf]]),
    "div by 0": (ag.div, [[1], [0]], [[inf], [-inf]]),
    "norm at 0": (ag.norm, [[0, 0]], [[0, 0]]),
    "1-norm at 0": (lambda x: ag.norm(x, p=1), [[0, -2]], [[0, -1]]),
    "1-norm at nan": (lambda x: ag.norm(x, p=1), [[nan, -2, 0]], [[0, -1, 0]]),
    "3-norm at 0": (lambda x: ag.norm(x, p=3), [[0, 0]], [[0, 0]]),
    "max norm shares": (lambda x: ag.norm(x, p=inf), [[2, -2]], [[0.5, -0.5]]),
    "std of equals": (ag.std, [[1, 1]], [[0, 0]]),
    "x ** 0 at 0": (lambda x: x**0, [[0]], [[0]]),
    "x ** 1 at 0": (lambda x: x**1, [[0]], [[1]]),
    "x ** 0.5 at 0": (lambda x: x**0.5, [[0]], [[inf]]),
    "0 ** x": (lambda x: 0**x, [[0, 1, -1]], [[0, 0, -inf]]),
    "0 ** x at nan": (lambda x: 0**x, [[nan]], [[nan]]),
    "pow at nan": (ag.pow, [[nan, 0, nan], [0, nan, 2]], [[0, nan, nan], [nan, nan, nan]]),
    "x ** 0, ** 1, ** 2 at nan": (lambda x: x**0 + x**1 + x**2, [[nan]], [[nan]]),
    "x ** 0 at nan": (lambda x: x**0, [[nan]], [[0]]),
    "pow": (ag.pow, [[0, 0, 0, 2], [0, 2, -1, 0]], [[0, 0, -inf, 0], [0, 0, -inf, log(2)]]),
    "prod of zeros": (ag.prod, [[0, 0, 2]], [[0, 0, 0]]),
    "prod of zeros and nan": (ag.prod, [[0, 0, nan]], [[0, 0, 0]]),
    "prod of one zero and nan": (ag.prod, [[0, nan, 2]], [[nan, 0, nan]]),
    "sigmoid far out": (ag.sigmoid, [[1000, -1000, inf, -inf]], [[0, 0, 0, 0]]),
    "silu far out": (F.silu, [[1000, -1000]], [[1, 0]]),
    "gelu far out": (F.gelu, [[50, -50, 1e5, -1e5]], [[1, 0, 1, 0]]),
    "tanh far out": (ag.tanh, [[1000, -1000]], [[0, 0]]),
    "softmax far out": (lambda x: ag.softmax(x, 0)[0], [[1000, 0]], [[0, 0]]),
    "log_softmax far out": (lambda x: ag.log_softmax(x, 0)[1], [[1000, 0]], [[-1, 1]]),
    "logsumexp at -inf": (lambda x: ag.logsumexp(x, 0), [[-inf, 0]], [[0, 1]]),
    "cross entropy far out": (
        lambda x: F.cross_entropy(x, ag.tensor([0, 1])),
        [[[1000, 0], [1000, 0]]],
        [[[0, 0], [0.5, -0.5]]],
    ),
    "cross entropy, all ignored": (lambda x: F.cross_entropy(x, ag.tensor([-100])), [[[1, 0]]], [[[0, 0]]]),
    "where lets nan through": (lambda x: ag.where(x > 0, x, ag.sqrt(x)), [[1, 0]], [[1, inf]]),
}


@pytest.mark.parametrize("name", KINKS)
def test_gradient_at_kink(name):
    function, values, expected = KINKS[name]
    dtype = ag.complex128 if name == "abs at complex 0" else ag.float64
    leaves = [ag.tensor(v, dtype=dtype, requires_grad=True) for v in values]
    y = function(*leaves)
    y.backward(ag.ones_like(y))
    for leaf, want in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(leaf.grad.numpy(), want, rtol=1e-12, atol=1e-300)


SELECTIONS = {
    "relu": (ag.relu, [[-1, 0]], [[0, 0]]),
    "clamp": (lambda x: ag.clamp(x, -1, 1), [[-2, 2]], [[0, 0]]),
    "where": (lambda x, y: ag.where(ag.tensor([True, False]), x, y), [[1, 2], [3, 4]], [[inf, 0], [0, nan]]),
    "maximum": (ag.maximum, [[1, 2], [2, 1]], [[0, nan], [inf, 0]]),
    "max": (lambda x: ag.stack([x.max(), x.max()]) * ag.tensor([1.0, 0.0]), [[1, 3, 2]], [[0, nan, 0]]),
    "min, infinite": (lambda x: x[:, None].expand(3, 2).min(0).values, [[2, 1, 3]], [[0, nan, 0]]),
    "amax": (lambda x: x.reshape(2, 2).amax(1), [[1, 2, 4, 3]], [[0, inf, nan, 0]]),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_what_is_not_selected_gets_zero_whatever_comes_in(name):
    """Selecting is not multiplying by zero: a gradient of inf and nan stays out."""
    function, values, expected = SELECTIONS[name]
    leaves = [ag.tensor(v, dtype=ag.float64, requires_grad=True) for v in values]
    function(*leaves).backward(ag.tensor([inf, nan], dtype=ag.float64))
    for leaf, want in zip(leaves, expected, strict=True):
        np.testing.assert_array_equal(leaf.grad.numpy(), np.array(want, float))


def test_the_product_of_a_number_is_the_number_whatever_was_saved():
    x = ag.tensor(3.0, requires_grad=True)
    y = x.prod()
    y.data.mul_(0)
    y.backward()
    assert x.grad.item() == 1.0


def test_the_extremes_of_what_was_overwritten_have_no_nan():
    """No element equals the maximum any more: nothing is shared among none."""
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y.max()
    y.data.zero_()
    z.backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_an_index_that_was_spoiled_is_refused_in_backward():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    values, indices = x.max(0)
    indices.data.fill_(5)
    with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 0 with size 2"):
        values.backward()
    assert x.grad is None


@pytest.mark.parametrize("create_graph", [False, True], ids=["once", "recorded"])
@pytest.mark.parametrize("value", [inf, nan])
@pytest.mark.parametrize("name", ["std", "norm"])
def test_a_root_at_zero_has_no_gradient_whatever_comes_in(name, value, create_graph):
    x = ag.zeros(3, requires_grad=True)
    (g,) = ag.autograd.grad(getattr(x, name)(), x, ag.tensor(value), create_graph=create_graph)
    assert g.tolist() == [0.0, 0.0, 0.0]


def test_sgn_of_nan_is_0():
    """And what nothing depends on has no graph: the second derivative of x ** 0 was nan at 0."""
    for dtype in (ag.float16, ag.float32, ag.float64):
        assert ag.tensor([nan, -inf, inf, -0.0], dtype=dtype).sgn().tolist() == [0, -1, 1, 0]
    x = ag.tensor([0.0, nan], requires_grad=True)
    y = x**0
    assert y.tolist() == [1, 1] and (y.grad_fn.name(), y.grad_fn._saved_exponent) == ("PowBackward0", 0)
    assert np.array_equal(y.grad_fn._saved_self.detach().numpy(), [0, nan], equal_nan=True)
    (g,) = ag.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [0, 0] and not g.requires_grad
