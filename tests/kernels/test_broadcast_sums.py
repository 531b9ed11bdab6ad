"""Gradients of large broadcast operands, and long runs of strided ones: the loops that small tensors never reach."""

import numpy as np
import pytest

import autograd_cy as ag

ROWS, LONG = 70, 300  # runs long enough to be made contiguous, and sums fused with the kernel
TYPES = [ag.float32, ag.float64, ag.complex64, ag.complex128]
SHAPES = [(LONG,), (ROWS, 1), (1, LONG), (1, 1), (), (3, 1, LONG), (3, ROWS, 1), (1, ROWS, LONG)]


def values(shape, dtype=ag.float64, seed=0):
    random = np.random.default_rng(seed)
    parts = random.standard_normal(shape) + (1j * random.standard_normal(shape) if dtype.is_complex else 0)
    return ag.tensor(parts, dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", ["dense", "transposed"])
def test_gradient_is_summed(shape, dtype, order):
    """Of a product (kernel and sum in one), and of a sum (the incoming gradient alone)."""
    a, b, g = values((3, ROWS, LONG), dtype), values(shape, dtype, 1), values((3, ROWS, LONG), dtype, 2)
    if order == "transposed":
        a, g = [ag.tensor(np.asfortranarray(x.numpy())) for x in (a, g)]
    b.requires_grad_()
    expected = g.numpy().astype(np.complex128) * a.numpy().conj()
    product, total = [ag.autograd.grad(y, b, g)[0] for y in (a * b, a + b)]
    for found, full in ((product, expected), (total, g.numpy().astype(np.complex128))):
        assert (found.shape, found.dtype) == (b.shape, b.dtype)
        near = 1e-3 if dtype in (ag.float32, ag.complex64) else 1e-10
        np.testing.assert_allclose(found.numpy(), summed(full, shape), rtol=near, atol=near)


def summed(full, shape):
    padded = (1,) * (3 - len(shape)) + shape
    return full.sum(tuple(d for d in range(3) if padded[d] == 1), keepdims=True).reshape(shape)


def test_sum_of_many_float32_is_accurate():
    """One by one, 4 * 10^6 numbers would be wrong in the fourth digit."""
    x = ag.full((2000, 2000), 0.1)
    b = ag.tensor(1.0, requires_grad=True)
    (x * b).backward(ag.ones(2000, 2000))
    exact = 4e6 * float(np.float32(0.1))
    assert abs(b.grad.item() / exact - 1) < 1e-6
    assert abs(x.sum().item() / exact - 1) < 1e-6


def test_float16_is_summed_in_float32():
    b = ag.ones(1, dtype=ag.float16, requires_grad=True)
    (b + ag.zeros(4096, dtype=ag.float16)).backward(ag.ones(4096, dtype=ag.float16))
    assert b.grad.item() == 4096


FUNCTIONS = {
    "a * b": lambda a, b: a * b,
    "a - b": lambda a, b: a - b,
    "a / b": lambda a, b: a / b,
    "sigmoid": lambda a, b: (a * b).sigmoid(),
    "silu": lambda a, b: ag.nn.functional.silu(a) + b,
    "rsqrt": lambda a, b: (a * a + 1.0).rsqrt() * b,
}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_long_strided_runs_have_the_bits_of_contiguous_ones(name, dtype):
    function = FUNCTIONS[name]
    wide = values((ROWS, 2 * LONG), dtype)
    column, number = values((ROWS, 1), dtype, 1), values((), dtype, 2)
    for a, b in [(wide[:, ::2], wide[:, 1::2]), (wide, column), (column, wide), (wide.t(), number), (number, wide)]:
        full = np.broadcast_shapes(a.shape, b.shape)
        dense = [ag.tensor(np.ascontiguousarray(np.broadcast_to(x.numpy(), full)), requires_grad=True) for x in (a, b)]
        spread = [x.detach().requires_grad_() for x in (a, b)]
        y, again = function(*dense), function(*spread)
        assert y.detach().numpy().tobytes() == again.detach().numpy().tobytes()
        g = values(full, dtype, 3)
        for x, leaf, found, other in zip(
            dense, spread, ag.autograd.grad(y, dense, g), ag.autograd.grad(again, spread, g), strict=True
        ):
            if leaf.shape == x.shape:
                assert found.numpy().tobytes() == other.numpy().tobytes()


@pytest.mark.parametrize("dtype", [ag.uint8, ag.int8, ag.int16, ag.int32, ag.int64], ids=str)
def test_long_strided_runs_of_integers(dtype):
    x = ag.tensor(np.arange(4 * LONG) % 100, dtype=dtype)
    assert x[::2].clamp(3, 50).tolist() == [min(max(value, 3), 50) for value in x[::2].tolist()]


def test_long_strided_results():
    """The result of an in-place operation, too, goes through a block."""
    x = ag.zeros(ROWS, LONG)
    x[:, ::2] += ag.ones(ROWS, LONG // 2) * 3.0
    x[:, 1::2].mul_(2.0).sub_(1.0)
    assert x[0, :4].tolist() == [3.0, -1.0, 3.0, -1.0]
    assert x.sum().item() == ROWS * LONG
