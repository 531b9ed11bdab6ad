"""What the tests of gradcheck share: inputs, and functions whose gradients are right or wrong."""

import numpy as np
import pytest

import autograd_cy as torch

MISMATCH = "Jacobian mismatch for output 0 with respect to input 0"
BOTH_MODES = pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])


def leaf(*shape, dtype="float64", seed=0):
    """A leaf that requires a gradient, its entries between 0.5 and 1.5, away from every kink."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 1.5, shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.uniform(0.5, 1.5, shape)
    return torch.from_numpy(np.asarray(values).astype(dtype)).requires_grad_()


def values_of(tensor):
    return tensor.detach().numpy().copy()


def twice(backward, jvp=None):
    """A function x -> 2x with the given backward(g) and jvp(t)."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

    Twice.backward = staticmethod(lambda ctx, g: backward(g))
    if jvp is not None:
        Twice.jvp = staticmethod(lambda ctx, t: jvp(t))
    return Twice.apply


def none_or(backward):
    return lambda g: None if g is None else backward(g)


wrong_twice = twice(none_or(lambda g: g * 3))
