"""Large tensors whose gradients are counted: the pool, from which large results come, knows how many arrays were made."""

import numpy as np

import autograd_cy as ag
from autograd_cy.memory import memory_stats

SIDE = 256
SHAPE = (SIDE, SIDE)  # 256 kB of float32


def values(seed=0, shape=SHAPE, dtype=np.float32):
    random = np.random.default_rng(seed)
    return (random.standard_normal(shape) + (1j if np.issubdtype(dtype, np.complexfloating) else 0)).astype(dtype)


def leaf(seed=0, **kwargs):
    return ag.tensor(values(seed, **kwargs), requires_grad=True)


def constant(seed, **kwargs):
    return ag.tensor(values(seed, **kwargs))


SEED = constant(99)


def new_arrays(run):
    """How many large arrays were made meanwhile. Not to be called in an assert, which would keep the tensors alive."""
    before = memory_stats()
    run()
    after = memory_stats()
    return after["hits"] + after["misses"] - before["hits"] - before["misses"]


def backward_of(y, seed=SEED, **kwargs):
    before = seed.numpy().copy()
    made = new_arrays(lambda: y.backward(seed, **kwargs))
    np.testing.assert_array_equal(seed.numpy(), before)
    return made


def same(found, expected):
    assert found.numpy().tobytes() == np.asarray(expected).tobytes()


def with_grad(seed=0):
    x = leaf(seed)
    x.grad = constant(seed + 50)
    return x, x.grad, x.grad.numpy().copy()
