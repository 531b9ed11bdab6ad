"""Pooling and interpolation: what the generic tests don't draw: ties, nans, long rows, huge arguments, PyTorch's own words."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.kernels.sampling_loops import Taps

F = ag.nn.functional
TIES = np.random.default_rng(3).integers(0, 3, (2, 3, 40, 40)).astype(np.float32)


def by_hand(x, size):
    """The largest of windows side by side, and the first place that has it; of nans the last one."""
    *outer, h, w = x.shape
    values, places = (np.empty((*outer, h // size, w // size), kind) for kind in (x.dtype, np.int64))
    for i, j in itertools.product(range(h // size), range(w // size)):
        window = x[..., i * size : (i + 1) * size, j * size : (j + 1) * size].reshape(*outer, -1)
        is_nan = np.isnan(window)
        last_nan = window.shape[-1] - 1 - is_nan[..., ::-1].argmax(-1)
        best = np.where(is_nan.any(-1), last_nan, np.where(is_nan, -np.inf, window).argmax(-1))
        values[..., i, j] = np.take_along_axis(window, best[..., None], -1)[..., 0]
        places[..., i, j] = (i * size + best // size) * w + j * size + best % size
    return values, places


@pytest.mark.parametrize("n", [2, 8, 15, 16, 17, 40])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_first_of_equal_elements_and_the_last_nan(n, size):
    """Rows below and above 16 elements are computed in two ways."""
    if size > n:
        return
    x = TIES[..., :n, :n].copy()
    x[0, 0, 1, 1] = x[0, 1, 0, :2] = np.nan
    found = F.max_pool2d(ag.from_numpy(x), size, return_indices=True)
    for y, want in zip(found, by_hand(x, size), strict=True):
        np.testing.assert_array_equal(y.numpy(), want)


def test_threads_change_no_bit():
    x = ag.from_numpy(np.random.default_rng(1).standard_normal((8, 16, 40, 40)).astype(np.float32))
    results = []
    before = ag.get_num_threads()
    for threads in (1, 2):
        ag.set_num_threads(threads)
        leaf = x.clone().requires_grad_()
        ys = [F.max_pool2d(leaf, 3, 2, 1), F.avg_pool2d(leaf, 3, 2, 1), F.interpolate(leaf, (50, 30), mode="bicubic")]
        ag.autograd.backward([y * y for y in ys], [ag.ones_like(y) for y in ys])
        results.append([*ys, leaf.grad])
    ag.set_num_threads(before)
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one.numpy(force=True), two.numpy(force=True))


def test_a_window_within_the_padding_is_empty():
    y, places = F.max_pool1d(ag.ones(1, 2), 2, 2, 1, 3, True, return_indices=True)
    assert y.isneginf().any() and ((places >= 0) & (places < 2)).all()


def test_an_input_that_was_written_after_pooling_is_an_error():
    for pool in (F.max_pool2d, F.avg_pool2d):
        x = ag.ones(1, 4, 4, requires_grad=True).clone()
        y = pool(x, 2).sum()
        x.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_indices_that_were_written_after_pooling_are_an_error():
    x = ag.ones(1, 4, 4, requires_grad=True)
    y, places = F.max_pool2d(x, 2, return_indices=True)
    places.fill_(10**9)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_taps_outside_of_the_elements_are_refused():
    for starts, counts in (([3], [1]), ([-1], [1]), ([1], [2]), ([0], [3])):
        with pytest.raises(ValueError, match="Taps"):
            Taps(2, starts, counts, [[1.0, 1.0]])


CALLS = """
max_pool2d(x, 0) | max_pool2d(x, 2, 0) | max_pool2d(x, 2, 2, 2) | max_pool2d(x, 2, 2, -1) | max_pool2d(x, 2, 2, 0, 0)
max_pool2d(x, (2, 2, 2)) | max_pool2d(x, 2.5) | max_pool2d(x, [2, 2.5]) | max_pool2d(x, 2**40) | max_pool2d(x, -1)
max_pool2d(x, 5) | max_pool2d(x, 2, -1) | max_pool2d(x[0, 0], 2) | max_pool2d(x[:, :0], 2) | max_pool2d(x[:, :, :0], 2)
max_pool3d(x, 5) | max_pool2d(x.bool(), 2) | max_pool1d(x, 2) | avg_pool2d(x, 5) | avg_pool2d(x, 2, divisor_override=0)
avg_pool2d(x, 2, 2, 2) | avg_pool2d(x.int(), 2) | avg_pool1d(x, 2) | avg_pool3d(x.half(), 2) | adaptive_avg_pool2d(x, -1)
adaptive_avg_pool2d(x[:, :, :0], 2) | adaptive_avg_pool2d(x, (2, 2, 2, 2)) | adaptive_max_pool2d(x, -1)
adaptive_max_pool2d(x[0, 0], 2) | adaptive_max_pool2d(x.long(), 2) | fractional_max_pool2d(x, 2) | max_unpool2d(x, x, 2)
fractional_max_pool2d(x, 5, 1) | max_unpool2d(x, x.long() + 99, 2) | max_unpool2d(x, x.long(), 2, output_size=(99, 99))
max_unpool2d(x, x.long()[:, :, :1], 2) | interpolate(x, 0) | interpolate(x, -1) | interpolate(x) | interpolate(x, 2, 2)
interpolate(x, 2, mode='linear') | interpolate(x, 2, mode='x') | interpolate(x, (2, 2, 2)) | interpolate(x, (2, 2.5))
interpolate(x, scale_factor=(2,)) | interpolate(x, 2, align_corners=True) | interpolate(x, 2, antialias=True)
interpolate(x, 2, recompute_scale_factor=True) | interpolate(x.long(), 2) | interpolate(x, 2, mode='lanczos')
fractional_max_pool2d(x, (2,), 1) | fractional_max_pool2d(x, (), 1) | fractional_max_pool2d(x, 2, (1,))
fractional_max_pool3d(x, (1, 1), 1) | fractional_max_pool3d(x, 1, ())
interpolate(x[:, :0], 2) | interpolate(x[0, 0], 2) | interpolate(x.half(), 2, mode='bilinear', antialias=True)
"""


@pytest.mark.parametrize("call", [call.strip() for line in CALLS.split("\n") for call in line.split("|") if call.strip()])
def test_errors_are_pytorchs(call):
    torch = pytest.importorskip("torch")
    raised = []
    for module in (ag, torch):
        x = module.ones((1, 1, 4, 4))
        with pytest.raises((RuntimeError, TypeError, ValueError)) as error:
            eval(f"F.{call}", {"F": module.nn.functional, "x": x})
        raised.append((error.type.__name__, str(error.value)))
    ours, theirs = raised
    assert ours[0] == theirs[0] and ours[1].startswith(theirs[1][:150].partition(" (")[0]), f"{ours}, not {theirs}"


def test_names_of_nodes_are_pytorchs():
    torch = pytest.importorskip("torch")
    for make in (
        lambda F, x: F.max_pool2d(x, 2), lambda F, x: F.max_pool3d(x[None], 2), lambda F, x: F.max_pool1d(x[0], 2),
        lambda F, x: F.avg_pool2d(x, 2), lambda F, x: F.avg_pool3d(x, 1), lambda F, x: F.adaptive_avg_pool2d(x, 3),
        lambda F, x: F.adaptive_avg_pool2d(x, 1), lambda F, x: F.adaptive_max_pool2d(x, 3),
        lambda F, x: F.fractional_max_pool2d(x, 2, 2), lambda F, x: F.interpolate(x, 3), lambda F, x: F.interpolate(x[0], 3),
        lambda F, x: F.interpolate(x, 3, mode="nearest-exact"), lambda F, x: F.interpolate(x, 3, mode="bilinear"),
        lambda F, x: F.interpolate(x, 3, mode="bicubic", antialias=True), lambda F, x: F.interpolate(x, 3, mode="area"),
    ):  # fmt: skip
        names = []
        for module in (ag, torch):
            node = make(module.nn.functional, module.ones(2, 2, 4, 4, requires_grad=True)).grad_fn
            names.append((node.name(), sorted(name for name in dir(node) if name.startswith("_saved"))))
        assert names[0] == names[1]
