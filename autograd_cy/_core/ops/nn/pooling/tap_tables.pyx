"""The matrices of average pooling and interpolation along one dimension: the summed elements and their weights.

They are cached, because each training step uses the same ones.
"""

from functools import lru_cache

import numpy as np

from autograd_cy._core.kernels.sampling_loops import Taps

KEPT = 128


# averages

def windows_within(n, count, kernel, stride, padding):
    """(Starts, counts within the n elements, counts with the padding) of `count` windows."""
    starts = np.arange(count) * stride - padding
    ends = np.minimum(starts + kernel, n + padding)
    padded = ends - starts
    starts, ends = np.clip(starts, 0, n), np.clip(ends, 0, n)
    return starts, np.maximum(ends - starts, 0), padded


@lru_cache(KEPT)
def averages(n, count, kernel, stride, padding, count_include_pad, divisor):
    """Means of windows, or sums over `divisor`."""
    starts, counts, padded = windows_within(n, count, kernel, stride, padding)
    sizes = np.maximum(padded if count_include_pad else counts, 1) if divisor is None else np.full(count, divisor)
    return evenly(n, starts, counts, 1.0 / sizes)


@lru_cache(KEPT)
def adaptive_averages(n, count):
    """Means of `count` windows that cover n elements as evenly as possible."""
    numbers = np.arange(count)
    starts = numbers * n // max(count, 1)
    counts = -((numbers + 1) * -n // max(count, 1)) - starts
    return evenly(n, starts, counts, 1.0 / np.maximum(counts, 1))


def evenly(n, starts, counts, weights):
    """Taps with equal weights within a window."""
    return Taps(n, starts, counts, np.repeat(weights[:, None], counts.max(initial=1), 1))


# interpolation

def step_of(n, count, align_corners, scale):
    """The distance of two outputs, in elements of the input."""
    if align_corners:
        return (n - 1) / (count - 1) if count > 1 else 0.0
    return 1 / scale if scale else n / count


@lru_cache(KEPT)
def nearest(n, count, scale, exact, narrow):
    """The element before, or (exact) the nearest one; PyTorch computes it in float32 unless the type is wider."""
    kind = np.float32 if narrow else np.float64
    step = kind(1 / scale) if scale else kind(n) / kind(count)
    places = (np.arange(count, dtype=kind) + kind(0.5 if exact else 0)) * step
    starts = np.minimum(np.floor(places.astype(np.float32)).astype(np.int64), n - 1)
    return Taps(n, starts, np.ones(count, np.int64), np.ones((count, 1)))


@lru_cache(KEPT)
def linear(n, count, align_corners, scale):
    """Linear interpolation between two neighbours."""
    numbers = np.arange(count)
    if count == n:
        return Taps(n, numbers, np.ones(count, np.int64), np.ones((count, 1)))
    step = step_of(n, count, align_corners, scale)
    places = numbers * step if align_corners else np.maximum((numbers + 0.5) * step - 0.5, 0)
    starts = np.minimum(places.astype(np.int64), n - 1)
    rest = np.clip(places - starts, 0, 1)
    is_last = starts == n - 1
    weights = np.stack([np.where(is_last, 1, 1 - rest), rest], 1)
    return Taps(n, starts, np.where(is_last, 1, 2), weights)


@lru_cache(KEPT)
def cubic(n, count, align_corners, scale):
    """Convolution with Keys' cubic of a = -0.75 over the four neighbours; beyond the ends the last elements repeat."""
    numbers, step = np.arange(count), step_of(n, count, align_corners, scale)
    places = numbers * step if align_corners else (numbers + 0.5) * step - 0.5
    before = np.minimum(np.floor(places), n - 1)
    rest = np.clip(places - before, 0, 1)
    offsets = np.arange(-1, 3)
    weights = keys(rest[:, None] - offsets, -0.75)
    return folded(n, before.astype(np.int64)[:, None] + offsets, weights)


def folded(n, places, weights):
    """Taps at any places; those outside of the n elements move to the ends."""
    places = np.clip(places, 0, n - 1)
    starts = places.min(1)
    table = np.zeros(weights.shape)
    np.add.at(table, (np.arange(len(places))[:, None], places - starts[:, None]), weights)
    return Taps(n, starts, places.max(1) - starts + 1, table)


# smoothing before shrinking

def triangle(x):
    return np.maximum(1 - abs(x), 0)


def keys(x, a=-0.5):
    """Keys, "Cubic convolution interpolation for digital image processing" (1981)."""
    x = abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def lanczos(x):
    return np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


FILTERS = {"bilinear": (triangle, 1), "bicubic": (keys, 2), "lanczos": (lanczos, 3)}       # with their radius


@lru_cache(KEPT)
def smoothed(mode, n, count, align_corners, scale):
    """Antialiasing, by a filter as wide as the result's elements."""
    filter, reach = FILTERS[mode]
    step = step_of(n, count, align_corners, scale)
    stretched = max(step, 1)
    centers = step * (np.arange(count) + 0.5)
    starts = np.maximum((centers - reach * stretched + 0.5).astype(np.int64), 0)
    ends = np.minimum((centers + reach * stretched + 0.5).astype(np.int64), n)
    counts = np.maximum(ends - starts, 0)
    taps = np.arange(counts.max(initial=1))
    weights = filter((taps + (starts - centers + 0.5)[:, None]) / stretched)
    weights[taps >= counts[:, None]] = 0
    totals = weights.sum(1, keepdims=True)
    return Taps(n, np.minimum(starts, n), counts, weights / np.where(totals == 0, 1, totals))


def in_16_bits(taps):
    """The matrix with weights rounded to as many binary places as fit 16 bits, for bytes."""
    places = 0
    while places < 22 and int(0.5 + taps.weights.max(initial=0) * 2 ** (places + 1)) < 1 << 15:
        places += 1
    weights = np.trunc(taps.weights * 2**places + np.copysign(0.5, taps.weights)) / 2**places
    return Taps(taps.n, taps.starts, taps.counts, weights)
