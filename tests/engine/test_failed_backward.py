"""A backward that failed leaves nothing behind of which the next one makes wrong gradients."""

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional


def drawn(*sizes, seed):
    return ag.tensor(np.random.default_rng(seed).standard_normal(sizes))


# Operations whose gradients have a part in common, which is computed once
COMMON = {
    "attention": (F.scaled_dot_product_attention, [(2, 3, 4)] * 3),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [(4, 3, 2), (3,), (3,)]),
    "conv1d": (F.conv1d, [(2, 3, 8), (4, 3, 3), (4,)]),
}


class Unpacking:
    """Hands out what was saved, but for one time, when it fails."""

    def __init__(self, fails_at):
        self.fails_at, self.calls = fails_at, 0

    def __call__(self, x):
        self.calls += 1
        if self.calls == self.fails_at:
            raise ValueError("nothing here")
        return x


@pytest.mark.parametrize("name", COMMON)
def test_what_gradients_have_in_common_is_not_kept(name):
    function, sizes = COMMON[name]
    inputs = [drawn(*size, seed=k).requires_grad_() for k, size in enumerate(sizes)]
    failed = 0
    for time in range(1, 10):
        unpack = Unpacking(time)
        with ag.autograd.graph.saved_tensors_hooks(lambda x: x, unpack):
            y = function(*inputs)
        first, second = [drawn(*y.shape[:-1], 1, seed=k).expand(y.shape) for k in (7, 8)]     # not dense
        try:
            ag.autograd.grad(y, inputs, first)
        except ValueError:
            failed += 1
            found = ag.autograd.grad(y, inputs, second)
            for a, b in zip(found, ag.autograd.grad(function(*inputs), inputs, second), strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-14)
    assert failed
