"""Convolutions that read images in place: sizes on both sides of a tile, a block and a sum, and taps that see nothing."""

import itertools

import numpy as np
import pytest
from crossings import kernel_threads

import autograd_cy as ag
import autograd_cy.nn.functional as F

FORMATS = {3: None, 4: ag.channels_last, 5: ag.channels_last_3d}
# sizes of the images, filters, kernel
SIZES = {
    "narrow images": [((n, 5, 5, w), 7, (3, 3)) for n, w in itertools.product((7, 8, 9, 17), (5, 7, 8))],
    "images of a single place": [((40, 5, 1, 1), 7, (3, 3)), ((40, 5, 3, 3), 7, (3, 3))],
    "lines of few places": [((1, 5, h, w), 7, (3, 3)) for h, w in itertools.product((5, 40), (7, 8, 9))],
    "columns beyond a panel": [((2, 3, 9, 10), f, (3, 3)) for f in (15, 16, 17, 32, 33, 70)],
    "sums beyond the depth": [((1, c, 6, 12), 5, (3, 3)) for c in (127, 128, 129, 385)],
    "blocks of lines": [((1, 16, 60, 80), 4, (3, 3)), ((1, 64, 11, 130), 4, (3, 3)), ((1, 64, 3, 130), 4, (3, 3))],
    "a kernel larger than the image": [((3, 5, 4, 6), 7, (7, 9))],
    "volumes": [((2, 5, 3, 4, 9), 7, (3, 2, 3)), ((9, 5, 2, 3, 3), 7, (2, 3, 3))],
}
SETTINGS = [{"padding": 0}, {"padding": 1}, {"padding": 4}, {"padding": 1, "stride": 2}, {"padding": 3, "stride": 3},
            {"padding": 2, "dilation": 2}, {"padding": 5, "dilation": 4, "stride": 2}]  # fmt: skip


def numbers(*sizes, seed=0, dtype=np.float64):
    return ag.from_numpy(np.random.default_rng(seed).standard_normal(sizes).astype(dtype))


def convolved(x, weight, bias, settings, last):
    if last:
        x, weight = [t.contiguous(memory_format=FORMATS[t.ndim]) for t in (x, weight)]
    x = x.detach().requires_grad_()
    y = getattr(F, f"conv{x.ndim - 2}d")(x, weight, bias, **settings)
    g = numbers(*y.shape, seed=3)
    return y.detach(), ag.autograd.grad(y, x, g.contiguous(memory_format=FORMATS[g.ndim]) if last else g)[0]


def fits(sizes, kernel, settings):
    reach = [settings.get("dilation", 1) * (k - 1) + 1 for k in kernel]
    return all(n + 2 * settings["padding"] >= r for n, r in zip(sizes[2:], reach, strict=True))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
@pytest.mark.parametrize("name", SIZES)
def test_sizes(name, settings, groups, level):
    """Results and gradients are those of contiguous tensors, with the same bits for any number of threads."""
    for sizes, filters, kernel in SIZES[name]:
        if not fits(sizes, kernel, settings):
            continue
        x = numbers(sizes[0], sizes[1] * groups, *sizes[2:])
        weight, bias = numbers(filters * groups, sizes[1], *kernel, seed=1), numbers(filters * groups, seed=2)
        for added in (None, bias):
            more, found = dict(settings, groups=groups), []
            for last, count in ((False, 1), (True, 1), (True, 3)):
                with kernel_threads(count):
                    found.append(convolved(x, weight, added, more, last))
            for plain, one, shared in zip(*found, strict=True):
                np.testing.assert_allclose(one.numpy(), plain.numpy(), rtol=1e-11, atol=1e-11)
                assert ag.equal(one, shared)


def test_taps_beside_the_image_are_not_multiplied():
    """So an infinite weight gives no nan, neither in the result nor in the gradient of the images: as in PyTorch 2.13."""
    x = ag.ones(2, 64, 16, 16).contiguous(memory_format=ag.channels_last).requires_grad_()
    weight = ag.ones(64, 64, 3, 3)
    weight[:, :, 0, 0] = ag.inf
    y = F.conv2d(x, weight, padding=1)
    (g,) = ag.autograd.grad(y.sum(), x)
    assert not ag.isnan(y).any()
    assert not ag.isnan(g).any()
    assert ag.isinf(y).sum().item() == ag.isinf(g).sum().item() == 2 * 64 * 15 * 15
