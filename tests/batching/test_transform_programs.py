"""Transforms within each other, drawn at random: each against another way to the same numbers, and against PyTorch's."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as ag

try:
    import torch
except ImportError:
    torch = None

EXAMPLES = int(os.environ.get("AUTOGRAD_CY_PROGRAMS", "30"))

# functions of a vector to a vector of the same size, for both libraries
FUNCTIONS = {
    "sin": lambda m, x: x.sin(),
    "square": lambda m, x: x * x,
    "tanh of sums": lambda m, x: x.cumsum(0).tanh(),
    "softmax": lambda m, x: x.softmax(0) * 2,
    "flipped": lambda m, x: x.flip(0) * x.mean(),
    "first": lambda m, x: x[:1] * x + x[-1],
    "exp": lambda m, x: (x * 0.3).exp(),
    "chosen": lambda m, x: m.where(x > 0, x * 0.5, x.sin()),
    "product": lambda m, x: (x.unsqueeze(1) * x.unsqueeze(0)) @ x,
    "written": lambda m, x: written(x),
    "stacked": lambda m, x: m.stack([x, x * 2]).amax(0) + m.cat([x[1:], x[:1]]),
}


def written(x):
    y = x.clone()
    y[1:].mul_(x[:-1])
    y[0] = x[-1] * 2
    return y


# each takes a function of a vector to a vector, and gives one


def direction(x):
    return x * 0.5 + 1


TRANSFORMS = {
    "grad": lambda m, f: lambda x: m.func.grad(lambda z: f(z).sum())(x),
    "vjp": lambda m, f: lambda x: m.func.vjp(f, x)[1](direction(x))[0],
    "jvp": lambda m, f: lambda x: m.func.jvp(f, (x,), (direction(x),))[1],
    "vmap": lambda m, f: lambda x: m.func.vmap(f)(m.stack([x, x * 0.5, -x])).sum(0),
    "vmap of shared": lambda m, f: lambda x: m.func.vmap(lambda z, k: f(z * k), (None, 0))(x, x * 0.5 + 1).sum(0),
    "jacrev": lambda m, f: lambda x: m.func.jacrev(f)(x).sum(0),
    "jacfwd": lambda m, f: lambda x: m.func.jacfwd(f)(x).sum(1),
}


def loop(m, f, x):
    return m.stack([f(z) for z in (x, x * 0.5, -x)]).sum(0)


def columns(m, f, x):
    """The Jacobian, column by column."""
    units = m.eye(len(x), dtype=x.dtype)
    return m.stack([m.func.jvp(f, (x,), (e,))[1] for e in units], 1)


OTHER_WAYS = {
    "grad": lambda m, f: lambda x: columns(m, f, x).sum(0),
    "vjp": lambda m, f: lambda x: direction(x) @ columns(m, f, x),
    "jvp": lambda m, f: lambda x: m.func.linearize(f, x)[1](direction(x)),
    "vmap": lambda m, f: lambda x: loop(m, f, x),
    "vmap of shared": lambda m, f: lambda x: m.stack([f(x * k) for k in x * 0.5 + 1]).sum(0),
    "jacrev": lambda m, f: lambda x: columns(m, f, x).sum(0),
    "jacfwd": lambda m, f: lambda x: m.stack([m.func.vjp(f, x)[1](e)[0] for e in m.eye(len(x), dtype=x.dtype)]).sum(1),
}


def composed(m, names, transforms, ways):
    def function(x):
        for name in names:
            x = FUNCTIONS[name](m, x)
        return x

    for transform in transforms:
        function = ways[transform](m, function)
    return function


programs = given(
    st.lists(st.sampled_from(sorted(FUNCTIONS)), min_size=1, max_size=3),
    st.lists(st.sampled_from(sorted(TRANSFORMS)), min_size=1, max_size=3),
    st.integers(0, 100),
)


def point(seed):
    return np.random.default_rng(seed).uniform(-1.2, 1.2, 3)


def close(found, expected):
    scale = max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0))
    np.testing.assert_allclose(found / scale, expected / scale, rtol=1e-7, atol=1e-7)


@programs
@settings(max_examples=EXAMPLES, deadline=None)
def test_two_ways_to_the_same_numbers(names, transforms, seed):
    x = ag.from_numpy(point(seed))
    found = composed(ag, names, transforms, TRANSFORMS)(x)
    assert not found.requires_grad
    close(found.numpy(), composed(ag, names, transforms, OTHER_WAYS)(x).detach().numpy())


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # of PyTorch's
@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@programs
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_pytorch_gives(names, transforms, seed):
    found = composed(ag, names, transforms, TRANSFORMS)(ag.from_numpy(point(seed)))
    close(found.numpy(), composed(torch, names, transforms, TRANSFORMS)(torch.from_numpy(point(seed))).numpy())
