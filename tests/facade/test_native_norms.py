"""Normalizations with their means and scales; test_op_db.py compares them with PyTorch's."""

import numpy as np

import autograd_cy as ag
from autograd_cy.testing import check_gradients


def numbers(*shape):
    return ag.from_numpy(np.random.default_rng(0).normal(size=shape))


def test_layer_norm_with_its_mean_and_scale():
    x, weight, bias = numbers(2, 3, 4), numbers(3, 4), numbers(3, 4)
    y, mean, scale = ag.native_layer_norm(x, (3, 4), weight, bias, 0.1)
    assert ag.equal(y, ag.nn.functional.layer_norm(x, (3, 4), weight, bias, 0.1))
    assert mean.shape == scale.shape == (2, 1, 1)
    np.testing.assert_allclose(((x - mean) * scale * weight + bias).numpy(), y.numpy(), rtol=1e-12)
    y, mean, scale = ag.native_layer_norm(x.requires_grad_(), (3, 4), None, None, 0.1)
    assert (y.requires_grad, mean.requires_grad, scale.requires_grad) == (True, False, False)


def test_group_norm_is_layer_norm_of_each_group():
    x, weight, bias = numbers(2, 6, 2, 2), numbers(6), numbers(6)
    y, mean, scale = ag.native_group_norm(x, weight, bias, 2, 6, 4, 3, 0.1)
    groups = ag.nn.functional.layer_norm(x.reshape(2, 3, 8), (8,), eps=0.1).reshape(x.shape)
    shape = (6, 1, 1)
    np.testing.assert_allclose(y.numpy(), (groups * weight.reshape(shape) + bias.reshape(shape)).numpy(), rtol=1e-12)
    np.testing.assert_allclose(mean.numpy(), x.reshape(2, 3, 8).mean(-1).numpy())
    assert scale.shape == (2, 3)


def test_derivatives_are_right():
    inputs = [t.requires_grad_() for t in (numbers(2, 4, 3), numbers(4), numbers(4))]
    check_gradients(lambda *args: ag.native_group_norm(*args, 2, 4, 3, 2, 0.1), *inputs)
    inputs = [t.requires_grad_() for t in (numbers(2, 4), numbers(4), numbers(4))]
    check_gradients(lambda x, weight, bias: ag.native_layer_norm(x, (4,), weight, bias, 0.1)[0], *inputs)
