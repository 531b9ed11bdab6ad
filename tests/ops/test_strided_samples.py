"""Derivatives of as_strided() and as_strided_scatter(): elements that share memory, and samples that share it within vmap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_cy as ag
from autograd_cy.func import grad, jacfwd, jacrev, jvp, vmap

X = ag.tensor([1.5, 2.5, 0.5, 4.0], dtype=ag.float64)
C = ag.tensor([[1.0, 2.0], [4.0, 5.0], [7.0, 8.0]], dtype=ag.float64)


def same(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-10, atol=1e-12)


@st.composite
def parts(draw):
    """A number of elements, and sizes, steps and an offset of some of them."""
    n = draw(st.integers(1, 8))
    offset = draw(st.integers(0, n - 1))
    sizes, steps, room = [], [], n - 1 - offset
    for _ in range(draw(st.integers(0, 3))):
        step = draw(st.integers(0, 3))
        size = draw(st.integers(1, min(room // step + 1, 4) if step else 3))
        sizes, steps, room = [*sizes, size], [*steps, step], room - step * (size - 1)
    return n, sizes, steps, offset


def alternatives(function, x):
    """A function's Jacobian in every way."""
    columns = [jvp(function, (x,), (e,))[1] for e in ag.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)]
    return jacfwd(function)(x), jacrev(function)(x), ag.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


def agree(function, x):
    first, *others = alternatives(function, x)
    for other in others:
        same(other, first)
    samples = ag.stack([x, x * 2, x.cos()])
    same(vmap(jacrev(function))(samples), ag.stack([jacrev(function)(sample) for sample in samples]))


@given(parts())
def test_jacobians_of_any_part_agree(part):
    n, *geometry = part
    x = ag.linspace(0.5, 2.0, n, dtype=ag.float64)

    def function(z):
        return (z * z).as_strided(*geometry) * z.sum()

    agree(function, x)
    places = ag.arange(n).as_strided(*geometry)
    agree(jacrev(lambda z: function(z).sum()), x)
    same(jacrev(lambda z: z.as_strided(*geometry))(x), ag.eye(n, dtype=ag.float64)[places])


@given(parts())
def test_jacobians_of_a_part_that_is_replaced_agree(part):
    n, *geometry = part
    x = ag.linspace(0.5, 2.0, n, dtype=ag.float64)
    source = ag.linspace(3.0, 4.0, int(np.prod(geometry[0])), dtype=ag.float64).reshape(geometry[0])
    agree(lambda z: ag.as_strided_scatter(z * z, source, *geometry), x)
    agree(lambda s: ag.as_strided_scatter(x, s * s, *geometry), source)
    kept = ag.as_strided_scatter(ag.full((n,), -1), ag.arange(source.numel()).reshape(source.shape), *geometry)
    rows = ag.eye(source.numel(), dtype=ag.float64)[kept.clamp(min=0)] * (kept >= 0).double().unsqueeze(-1)
    same(jacrev(lambda s: ag.as_strided_scatter(x, s, *geometry))(source).reshape(n, -1), rows)


LAYOUTS = {
    "the same sample": lambda: X[:2].expand(3, 2),
    "windows": lambda: X.unfold(0, 2, 1),
    "columns": lambda: X.unfold(0, 2, 1).t().contiguous().t(),
    "rows of a part": lambda: ag.stack([X, X * 2, X * 3])[:, 1:3],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_samples_that_share_memory_have_gradients_of_their_own(layout):
    """They were averaged over the samples, or went to another sample."""
    samples = LAYOUTS[layout]()

    def slope(x, c):
        return grad(lambda z: (z.as_strided((2,), (1,)) ** 2 * c).sum())(x)

    same(vmap(slope)(samples, C), ag.stack([slope(x, c) for x, c in zip(samples, C, strict=True)]))
    twice = vmap(vmap(slope, in_dims=(None, 0)), in_dims=(0, None))(samples, C)
    same(twice, ag.stack([ag.stack([slope(x, c) for c in C]) for x in samples]))


def test_elements_that_share_memory_have_equal_shares_in_both_modes():
    """jacfwd() gave the tangent of the last one."""
    pair = X[:2].expand(2, 2)
    shares = ag.tensor([[[0.5, 0], [0.5, 0]], [[0, 0.5], [0, 0.5]]], dtype=ag.float64)
    for jacobian in (jacfwd, jacrev):
        same(jacobian(lambda x: x.as_strided((2,), (1,), 0))(pair), shares)


def test_a_part_is_replaced_within_vmap_where_it_lies():
    """The offset was taken for one in a copy of all samples."""
    replaced = vmap(lambda c: ag.as_strided_scatter(X[1:], c, (2,), (1,), 1))(C)
    same(replaced, ag.stack([ag.as_strided_scatter(X[1:], c, (2,), (1,), 1) for c in C]))
