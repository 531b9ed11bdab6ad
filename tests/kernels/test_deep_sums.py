"""Sums of very many float32, in any layout, are as exact as a pairwise sum: they were off by 1.5e-4 and more along columns."""

import numpy as np
import pytest
from crossings import kernel_threads

import autograd_cy as ag

N, NEAR = 1 << 18, 1e-6
A = float(np.float32(0.1))  # each one is rounded in the same direction
# Views of N * k elements, and the dimensions to sum.
SUMS = {
    "columns": ((N, 3), lambda x: x, 0),
    "many columns": ((N // 32, 130), lambda x: x, 0),
    "every other column": ((N, 6), lambda x: x[:, ::2], 0),
    "every other row": ((2 * N, 3), lambda x: x[::2], 0),
    "a middle dimension": ((N, 2, 3), lambda x: x.permute(2, 0, 1), 1),
    "of a batch": ((2, N, 3), lambda x: x, 1),
    "around one": ((N, 3, 2), lambda x: x, (0, 2)),
    "apart": ((N, 4, 2), lambda x: x[:, :2], (0, 1)),
    "short rows": ((N, 3, 5), lambda x: x[:, :, 1:4], (0, 2)),
    "backwards": ((N, 3), lambda x: ag.from_numpy(x.numpy()[::-1, ::-1]), 0),
    "rows": ((3, N), lambda x: x, 1),
    "all": ((N, 3), lambda x: x[:, :2], None),
}


def relative(found, want):
    return np.abs(found.detach().numpy().astype(complex) / want - 1).max()


@pytest.mark.parametrize("name", SUMS)
def test_sums_are_exact(name):
    shape, view, dim = SUMS[name]
    x = view(ag.full(shape, 0.1))
    y = x.sum(dim)
    count = x.numel() / y.numel()
    assert relative(y, A * count) < NEAR
    assert relative(x.mean(dim), A) < NEAR
    assert relative(x.norm(2, dim), A * np.sqrt(count)) < NEAR
    assert relative(x.norm(1, dim), A * count) < NEAR
    assert np.abs(x.var(dim).numpy()).max() < 1e-12
    assert relative((x * 0 - 0.3).logsumexp(dim if dim is not None else (0, 1)), np.log(count) - 0.3) < NEAR


@pytest.mark.parametrize("name", ["columns", "a middle dimension", "of a batch", "every other column"])
def test_complex_sums_are_exact(name):
    shape, view, dim = SUMS[name]
    x = ag.full(shape, 0.1 + 0.1j, dtype=ag.complex64)
    y = (x.permute(2, 0, 1) if name == "a middle dimension" else view(x)).sum(dim)
    assert y.dtype == ag.complex64
    assert relative(y, (A + A * 1j) * x.numel() / y.numel() / (2 if name == "every other column" else 1)) < NEAR


@pytest.mark.parametrize("k", [1, 3, 200])
@pytest.mark.parametrize("dtype", [ag.float32, ag.complex64], ids=str)
def test_gradients_of_broadcast_operands_are_exact(k, dtype):
    n = N if k < 200 else N // 32
    g, ones = ag.full((n, k), 0.1, dtype=dtype), ag.ones(n, k, dtype=dtype)
    for y_of in (lambda b: ones + b, lambda b: ones * b, lambda b: (ones * b).tanh() * 0 + ones * b):
        for shape in ((k,), (1, k)):
            b = ag.ones(shape, dtype=dtype, requires_grad=True)
            y_of(b).backward(g)
            assert relative(b.grad, A * n) < NEAR
    b = ag.zeros(k, dtype=dtype, requires_grad=True)
    ag.nn.functional.linear(ag.ones(n, 2, dtype=dtype), ag.ones(k, 2, dtype=dtype), b).backward(g)
    assert relative(b.grad, A * n) < NEAR


def test_gradient_of_a_bias_of_a_batch_is_exact():
    g, b = ag.full((N // 4, 4, 3), 0.1), ag.zeros(3, requires_grad=True)
    ag.nn.functional.layer_norm(ag.ones(N // 4, 4, 3), (3,), ag.ones(3), b).backward(g)
    assert relative(b.grad, A * N) < NEAR


@pytest.mark.parametrize("name", SUMS)
def test_any_number_of_threads_gives_the_same_bits(name):
    shape, view, dim = SUMS[name]
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x, results = view(ag.from_numpy(values)), []
    b = ag.ones(x.shape[-1], requires_grad=True)
    for n in (1, 2, 3):
        with kernel_threads(n):
            (g,) = ag.autograd.grad(x * b, b, x)
            results.append([y.numpy().tobytes() for y in (x.sum(dim), x.norm(2, dim), g)])
    assert results[0] == results[1] == results[2]
