"""Convolutions with channels last from many to few channels, and gradients from few to many: sums of vectors of channels."""

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
FORMATS = {4: ag.channels_last, 5: ag.channels_last_3d}
SETTINGS = [
    {"padding": 1}, {"padding": (0, 3)}, {"stride": (2, 3), "padding": (2, 1)}, {"dilation": (1, 2), "padding": (0, 2)},
    {"stride": 2, "dilation": 3, "padding": 5}, {},
]  # fmt: skip


def numbers(*sizes, dtype, seed=0):
    return ag.from_numpy(np.random.default_rng(seed).standard_normal(sizes)).to(dtype)


def in_last(x):
    return x.detach().contiguous(memory_format=FORMATS[x.ndim])


def check(sizes, weights, settings, dtype, threads):
    """Results and gradients are those of contiguous tensors, whatever the number of threads."""
    convolution, results = F.conv2d if len(sizes) == 4 else F.conv3d, []
    plain, weight, bias = [numbers(*n, dtype=dtype, seed=k) for k, n in enumerate((sizes, weights, weights[:1]))]
    for last, count in ((False, 1), (True, 1), (True, 2)):
        threads(count)
        x, w = [(in_last(t) if last else t.clone()).requires_grad_() for t in (plain, weight)]
        y = convolution(x, w, bias, **settings)
        g = numbers(*y.shape, dtype=dtype, seed=5)
        found = ag.autograd.grad(y, (x, w), in_last(g) if last else g)
        results.append([y, convolution(x, w, **settings), *found])
    tolerance = 1e-5 if dtype is ag.float32 else 1e-13
    for one, other, shared in zip(*results, strict=True):
        scale = max(one.abs().max().item(), 1)
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=0, atol=tolerance * scale)
        assert ag.equal(other, shared)


@pytest.mark.parametrize("channels", [4, 6, 8, 12, 16, 20, 28, 48])
@pytest.mark.parametrize("kernel", [(3, 3), (1, 1), (2, 4), (1, 3)])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_few_filters(channels, kernel, dtype, level, threads):
    """And, by the gradient of the images, few channels."""
    for filters, settings in zip((1, 2, 3, 4, 5, 6, 7, 8), SETTINGS * 2, strict=False):
        check((2, channels, 12, 13), (filters, channels, *kernel), settings, dtype, threads)
        half = (kernel[0] // 2, kernel[1] // 2)
        check((2, filters, 12, 13), (channels, filters, *kernel), {"padding": half}, dtype, threads)


@pytest.mark.parametrize("kernel", [(64, 1), (65, 1), (8, 9)])
def test_kernels_of_many_lines(kernel, threads):
    """Up to 64 of them are kept on the stack."""
    for dilation in (1, 2):
        check((2, 8, 130, 20), (3, 8, *kernel), {"dilation": dilation}, ag.float64, threads)


@pytest.mark.parametrize("settings", [{"padding": 1}, {"stride": (1, 2, 1)}, {"dilation": 2, "padding": (2, 1, 3)}])
def test_volumes(settings, threads):
    check((2, 16, 5, 6, 7), (3, 16, 2, 3, 3), settings, ag.float32, threads)


def test_a_window_wider_than_the_image(threads):
    """No place sees all taps."""
    check((2, 8, 9, 3), (2, 8, 3, 7), {"padding": (1, 3)}, ag.float32, threads)
    check((2, 8, 9, 2), (2, 8, 1, 3), {"dilation": (1, 4), "padding": (0, 4)}, ag.float32, threads)


def test_infinite_neighbours_are_not_read(level):
    """A vector may not reach into the next pixel or line."""
    x = numbers(1, 12, 9, 9, dtype=ag.float32)
    x[:, :, :, 5:] = float("inf")
    y = F.conv2d(in_last(x), in_last(numbers(3, 12, 3, 3, dtype=ag.float32)), padding=1)
    assert y[..., :4].isfinite().all() and not y[..., 4:].isfinite().any()
