"""Rows of the op table: pooling and interpolation."""

import functools
import itertools
import math
import warnings

import numpy as np
from op_case import BOOL, FLOATS, HALF, INTS, OpInfo, S
from op_samples import calls

from autograd_cy._core.arrays.dtypes import kind_of


def each(value, dims):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


def windows(x, kernel, stride, padding, dilation, ceil):
    """For each place of the result the elements of its window that exist, by their places in the plane."""
    dims = len(kernel)
    sizes, counts = x.shape[-dims:], []
    for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        count = (math.ceil if ceil else math.floor)(room / s) + 1
        counts.append(count - (ceil and (count - 1) * s >= n + p))
    found = {}
    for place in np.ndindex(*counts):
        along = [
            [i for i in range(o * s - p, o * s - p + (k - 1) * d + 1, d) if 0 <= i < n]
            for o, n, k, s, p, d in zip(place, sizes, kernel, stride, padding, dilation, strict=True)
        ]
        found[place] = list(itertools.product(*along))
    return tuple(counts), found


def adaptive_windows(x, counts):
    found, sizes = {}, x.shape[-len(counts) :]
    for place in np.ndindex(*counts):
        along = [range(o * n // c, -(-(o + 1) * n // c)) for o, n, c in zip(place, sizes, counts, strict=True)]
        found[place] = list(itertools.product(*along))
    return found


def reduced(x, counts, found, function):
    """function(elements of each plane, places in it) for each window."""
    dims = len(counts)
    results = [
        function(np.stack([x[(..., *place)] for place in places], -1), places, window) for window, places in found.items()
    ]
    if isinstance(results[0], tuple):
        return tuple(np.stack(r, -1).reshape(x.shape[:-dims] + counts) for r in zip(*results, strict=True))
    return np.stack(results, -1).reshape(x.shape[:-dims] + counts)


def largest(x, dims):
    def function(elements, places, _):
        flat = np.array([np.ravel_multi_index(place, x.shape[-dims:]) for place in places])
        return elements.max(-1), flat[elements.argmax(-1)]

    return function


def max_pool(dims, both=False):
    def reference(x, kernel, stride=None, padding=0, dilation=1, ceil=False, return_indices=False):
        kernel, stride = each(kernel, dims), each(stride or kernel, dims)
        counts, found = windows(x, kernel, stride, each(padding, dims), each(dilation, dims), ceil)
        results = reduced(x, counts, found, largest(x, dims))
        return results if both or return_indices else results[0]

    return reference


def adaptive_max_pool(dims, both=False):
    def reference(x, size, return_indices=False):
        counts = tuple(n if c is None else c for c, n in zip(each(size, dims), x.shape[-dims:], strict=True))
        results = reduced(x, counts, adaptive_windows(x, counts), largest(x, dims))
        return results if both or return_indices else results[0]

    return reference


def avg_pool(dims):
    def reference(x, kernel, stride=None, padding=0, ceil=False, include=True, divisor=None):
        kernel, padding = each(kernel, dims), each(padding, dims)
        stride = each(stride or kernel, dims)
        counts, found = windows(x, kernel, stride, padding, (1,) * dims, ceil)

        def function(elements, _, window):
            ends = [min(o * s + k, n + 2 * p) - o * s
                    for o, s, k, n, p in zip(window, stride, kernel, x.shape[-dims:], padding, strict=True)]  # fmt: skip
            by = divisor or (math.prod(ends) if include else elements.shape[-1])
            return np.trunc(elements.sum(-1) / by) if kind_of(x.dtype) == "i" else elements.sum(-1) / by

        return reduced(x, counts, found, function)

    return reference


def adaptive_avg_pool(dims):
    def reference(x, size):
        counts = tuple(n if c is None else c for c, n in zip(each(size, dims), x.shape[-dims:], strict=True))
        return reduced(x, counts, adaptive_windows(x, counts), lambda elements, *_: elements.mean(-1))

    return reference


def lp_pool(dims):
    def reference(x, p, kernel, stride=None, ceil=False):
        if p == math.inf:
            return max_pool(dims)(abs(x), kernel, stride, 0, 1, ceil)
        size = math.prod(each(kernel, dims))
        return (np.maximum(avg_pool(dims)(x**p, kernel, stride, 0, ceil), 0) * size) ** (1 / p)

    return reference


def fractional(dims, both=False):
    def reference(x, kernel, size, ratio, return_indices, samples):
        kernel, found = each(kernel, dims), []
        by_ratio = tuple(int(n * r) for n, r in zip(x.shape[-dims:], each(ratio, dims), strict=True)) if size is None else ()
        size = by_ratio or each(size, dims)
        planes = x.reshape(-1, *x.shape[-dims:])
        for plane, sample in zip(planes, samples.reshape(-1, dims), strict=True):
            along = []
            for n, c, k, u in zip(plane.shape, size, kernel, sample if dims == 3 else sample[::-1], strict=True):
                step = (n - k) / max(c - 1, 1)
                along.append([*(int((i + u) * step) - int(u * step) for i in range(c - 1)), n - k])
            places = {
                o: list(itertools.product(*[range(along[a][o[a]], along[a][o[a]] + kernel[a]) for a in range(dims)]))
                for o in np.ndindex(*size)
            }
            found.append(reduced(plane[None], size, places, largest(plane[None], dims)))
        values, indices = (np.stack([f[i] for f in found]).reshape(x.shape[:-dims] + size) for i in (0, 1))
        return (values, indices) if both or return_indices else values

    return reference


def unpool(dims):
    def reference(x, indices, kernel, stride=None, padding=0, size=None):
        kernel, padding = each(kernel, dims), each(padding, dims)
        stride = each(stride or kernel, dims)
        usual = tuple((n - 1) * s + k - 2 * p for n, s, k, p in zip(x.shape[-dims:], stride, kernel, padding, strict=True))
        size = tuple(size)[-dims:] if size is not None else usual
        y = np.zeros((*x.shape[:-dims], math.prod(size)))
        np.put_along_axis(y, indices.reshape(*x.shape[:-dims], -1), x.reshape(*x.shape[:-dims], -1), -1)
        return y.reshape(*x.shape[:-dims], *size)

    return reference


# interpolation


def matrix(mode, n, count, aligned, scale, smooth):
    """Dense, row by row."""
    rows = np.zeros((count, n))
    step = ((n - 1) / (count - 1) if count > 1 else 0) if aligned else 1 / scale if scale else n / count
    for i in range(count):
        place = i * step if aligned else (i + 0.5) * step - 0.5
        if smooth:
            reach = 2 if mode == "bicubic" else 1
            wide, center = max(step, 1), step * (i + 0.5)
            inside = range(max(int(center - reach * wide + 0.5), 0), min(int(center + reach * wide + 0.5), n))
            weights = [kernel(mode, (j - center + 0.5) / wide, -0.5) for j in inside]
            rows[i, list(inside)] = np.array(weights) / sum(weights)
        elif mode == "area":
            inside = slice(i * n // count, -(-(i + 1) * n // count))
            rows[i, inside] = 1 / (inside.stop - inside.start)
        elif mode.startswith("nearest"):
            rows[i, min(int((i + 0.5 * (mode != "nearest")) * step), n - 1)] = 1
        elif mode == "bicubic":
            for j in range(math.floor(place) - 1, math.floor(place) + 3):
                rows[i, min(max(j, 0), n - 1)] += kernel(mode, place - j, -0.75)
        else:
            place = min(max(place, 0), n - 1)
            for j in {math.floor(place), min(math.floor(place) + 1, n - 1)}:
                rows[i, j] += max(1 - abs(place - j), 0)
    return rows


def kernel(mode, x, a):
    x = abs(x)
    if mode != "bicubic":
        return max(1 - x, 0)
    return ((a + 2) * x - a - 3) * x * x + 1 if x < 1 else ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0


def interpolate(x, size=None, scale=None, mode="nearest", aligned=None, recompute=None, smooth=False):
    dims, is_whole = x.ndim - 2, kind_of(x.dtype) == "i"
    scales = each(scale, dims)
    sizes = each(size, dims) if size is not None else tuple(int(n * s) for n, s in zip(x.shape[2:], scales, strict=True))
    for k in reversed(range(dims)):
        of = None if recompute or mode == "area" else scales[k]
        x = np.moveaxis(np.moveaxis(x, 2 + k, -1) @ matrix(mode, x.shape[2 + k], sizes[k], aligned, of, smooth).T, -1, 2 + k)
        x = np.floor(x + 0.5) if is_whole else x
    return x


NEAREST = calls(
    ([1, 2, 3], 5), ([1, 1, 2, 3], (3, 4)), ([1, 1, 2, 2, 2], (1, 3, 2)), ([1, 1, 3, 2], None, 1.5),
    ([1, 2, 3], None, 2.3, "nearest-exact"), ([1, 1, 3, 3], (2, 5), None, "nearest-exact"),
    ([1, 1, 2, 2, 2], None, 1.5, "nearest-exact"),
)  # fmt: skip
BETWEEN = calls(
    ([2, 1, 3], 5, None, "linear"), ([1, 1, 3], None, 1.7, "linear", False),
    ([1, 1, 3], 4, None, "linear", True), ([1, 1, 2, 3], (3, 5), None, "bilinear"),
    ([1, 1, 3, 2], None, (1.5, 0.7), "bilinear", False, True), ([1, 1, 2, 3], (3, 2), None, "bilinear", True),
    ([1, 1, 2, 2, 2], (3, 1, 2), None, "trilinear", False), ([1, 1, 2, 3], (3, 4), None, "bicubic"),
    ([1, 1, 3, 2], None, 1.5, "bicubic", True), ([1, 1, 3, 3], (2, 2), None, "area"), ([1, 1, 5], None, 0.7, "area"),
)  # fmt: skip
SMOOTHED = calls(
    ([1, 1, 4, 5], (2, 3), None, "bilinear", False, None, True), ([1, 1, 4, 5], (2, 6), None, "bicubic", False, None, True),
)


def sizes(make):
    """Bytes are rounded between, float16 is never smoothed."""
    yield from NEAREST(make)
    if kind_of(make.dtype) == "f":
        yield from BETWEEN(make)
    if make.dtype.char in "fd":
        yield from SMOOTHED(make)


def quietly(function, *args, **kwargs):
    """A call without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


# the table

FUNCTIONAL = "nn.functional."
BYTES = {"dtypes": FLOATS, "forward": HALF + ("uint8",), "result": "first"}
REAL_FLOATS = {"dtypes": FLOATS, "forward": HALF, "result": "first"}
VALUES_AND_INDICES = {"dtypes": FLOATS, "forward": HALF, "result": ("first", "int64")}
STRIDED = {
    1: calls(([2, 5], 2), ([1, 2, 5], 3, 2, 1), ([1, 5], 2, 1, 0, 3), ([1, 4], (3,), (2,), 1, 1, True)),
    2: calls(([2, 2, 4], 2), ([1, 2, 3, 4], (2, 3), 1, 1), ([1, 4, 3], 2, 1, (0, 1), (3, 1)), ([1, 3, 5], 2, 2, 1, 1, True)),
    3: calls(([1, 2, 2, 3], 2), ([1, 1, 2, 3, 2], (1, 2, 2), 1, (0, 1, 1)), ([1, 3, 1, 2], (2, 1, 1), 1, 0, (2, 1, 1), True)),
}
AVERAGED = {
    1: calls(([2, 5], 2), ([1, 2, 5], 3, 2, 1), ([1, 4], (3,), (2,), 1, True, False)),
    2: calls(([2, 2, 4], 2), ([1, 2, 3, 4], (2, 3), 1, 1), ([1, 3, 5], 2, 2, 1, True, False),
             ([1, 4, 3], 3, 2, 1, True, True, 5)),
    3: calls(([1, 2, 2, 3], 2), ([1, 1, 2, 3, 2], (1, 2, 2), 1, (0, 1, 1)),
             ([1, 3, 1, 2], (2, 1, 2), 1, (1, 0, 1), True, False, 3)),
}
ADAPTIVE = {
    1: calls(([2, 5], 2), ([1, 2, 3], 4), ([1, 3], (1,))),
    2: calls(([2, 3, 4], 2), ([1, 2, 3, 4], (2, 3)), ([1, 2, 3], (None, 1)), ([1, 2, 3], 1)),
    3: calls(([1, 2, 2, 3], 2), ([1, 1, 2, 3, 2], (1, 2, None)), ([1, 2, 1, 2], 1)),
}
NORMS = {
    1: calls(([2, 5], 2, 2), ([1, 2, 5], 3, 3, 2)),
    2: calls(([2, 2, 4], 2, 2), ([1, 2, 3, 4], 1.5, (2, 3), 1)),
    3: calls(([1, 2, 2, 3], 2, 2), ([1, 1, 2, 3, 2], 3, (1, 2, 2), 1)),
}


def inexact(args):
    return args[0].dtype if kind_of(args[0].dtype) == "f" else np.dtype(np.float32)


def with_samples(dims):
    def generate(make):
        fixed = np.random.default_rng(dims)
        for shape, size, ratio in (((1, 2) + (4,) * dims, 2, None), ((2,) + (5,) * dims, None, (0.5,) * dims)):
            planes = shape[:2] if len(shape) == dims + 2 else (1, shape[0])
            yield S(make(*shape), 2, size, ratio, False, _random_samples=fixed.random((*planes, dims)).astype(make.dtype))

    return generate


def with_indices(dims):
    def generate(make):
        for shape, places in (((1, 2) + (1,) * (dims - 1), [[1, 2]]), ((2, 1, 2) + (1,) * (dims - 1), [[[0, 3]], [[3, 1]]])):
            yield S(make(*shape), np.array(places).reshape(shape), (2,) + (1,) * (dims - 1), None, 0)
        padding, size = (1,) + (0,) * (dims - 1), (2,) + (3,) * (dims - 1)
        yield S(make(1, *(1,) * dims), np.array(1).reshape((1,) * (dims + 1)), 3, 2, padding, size)

    return generate


def rows():
    for dims in (1, 2, 3):
        both = VALUES_AND_INDICES
        pooled, adapted = functools.partial(OpInfo, samples=STRIDED[dims]), functools.partial(OpInfo, samples=ADAPTIVE[dims])
        forward = {"forward": HALF + INTS}
        yield pooled(f"{FUNCTIONAL}max_pool{dims}d", max_pool(dims), **REAL_FLOATS | forward)
        yield pooled(f"{FUNCTIONAL}max_pool{dims}d_with_indices", max_pool(dims, True), **both | forward)
        yield pooled(f"max_pool{dims}d", max_pool(dims), **REAL_FLOATS | forward, method=False)
        yield adapted(f"{FUNCTIONAL}adaptive_max_pool{dims}d", adaptive_max_pool(dims), **REAL_FLOATS)
        yield adapted(f"{FUNCTIONAL}adaptive_max_pool{dims}d_with_indices", adaptive_max_pool(dims, True), **both)
        where = FUNCTIONAL if dims > 1 else ""
        halves = {"forward": (HALF if dims < 3 else ()) + ("int64",)}
        yield OpInfo(f"{where}avg_pool{dims}d", avg_pool(dims), AVERAGED[dims], **REAL_FLOATS | halves, method=dims > 1)
        yield adapted(f"{where}adaptive_avg_pool{dims}d", adaptive_avg_pool(dims), **REAL_FLOATS, method=dims > 1)
        columns = {"dtypes": FLOATS, "domain": ((0.3, 3.0),), "result": inexact, "forward": BOOL + halves["forward"]}
        yield OpInfo(f"{FUNCTIONAL}lp_pool{dims}d", lp_pool(dims), NORMS[dims], **columns)
        yield OpInfo(f"{FUNCTIONAL}max_unpool{dims}d", unpool(dims), with_indices(dims), **REAL_FLOATS)
        if dims > 1:
            path, samples = f"{FUNCTIONAL}fractional_max_pool{dims}d", with_samples(dims)
            yield OpInfo(path, fractional_by_name(dims), samples, **REAL_FLOATS)
            yield OpInfo(f"{path}_with_indices", fractional_by_name(dims, True), samples, **both)


def fractional_by_name(dims, both=False):
    def reference(x, kernel, size, ratio, return_indices, _random_samples):
        return fractional(dims, both)(x, kernel, size, ratio, return_indices, _random_samples)

    return reference


def old_name(*fixed):
    """An old name of interpolate()."""
    return lambda x, size=None, scale=None: interpolate(x, size, scale, *fixed)


POOLING = [
    *rows(),
    OpInfo("max_pool1d_with_indices", max_pool(1, True), STRIDED[1], **VALUES_AND_INDICES | {"forward": HALF + INTS},
           method=False),
    OpInfo("adaptive_max_pool1d", adaptive_max_pool(1, True), ADAPTIVE[1], **VALUES_AND_INDICES, method=False),
    OpInfo(f"{FUNCTIONAL}interpolate", interpolate, sizes, **BYTES),
    OpInfo(f"{FUNCTIONAL}upsample", interpolate, calls(([1, 1, 3], 5), ([1, 1, 3], None, 2)), **BYTES, through=quietly),
    OpInfo(f"{FUNCTIONAL}upsample_nearest", old_name("nearest"), calls(([1, 1, 3], 5), ([1, 1, 2, 2], None, 2)), **BYTES,
           through=quietly),
    OpInfo(f"{FUNCTIONAL}upsample_bilinear", old_name("bilinear", True), calls(([1, 1, 2, 3], (2, 3)), ([1, 1, 3, 1], (5, 1))),
           **BYTES, through=quietly),
]
