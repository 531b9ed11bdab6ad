"""Rows of the op table: grid_sample and affine_grid."""

import itertools
import math

import numpy as np
from op_case import FLOATS, HALF, OpInfo, S
from op_rows_pooling import kernel, quietly

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def padded(place, n, padding, aligned):
    """Where a coordinate is taken from."""
    if padding == "reflection":
        low, high = (0, n - 1) if aligned else (-0.5, n - 0.5)
        while low < high and not low <= place <= high:
            place = 2 * low - place if place < low else 2 * high - place
        place = place if low < high else 0
    return place if padding == "zeros" else min(max(place, 0), n - 1)


def row(coordinate, n, mode, padding, aligned):
    """The weight of each of the n elements along a dimension."""
    place = (coordinate + 1) / 2 * (n - 1) if aligned else ((coordinate + 1) * n - 1) / 2
    weights = np.zeros(n)
    if mode == "bicubic":
        base = math.floor(place)
        parts = [(padded(k, n, padding, aligned), kernel(mode, place - k, -0.75)) for k in range(base - 1, base + 3)]
    elif mode == "nearest":
        parts = [(round(padded(place, n, padding, aligned)), 1)]
    else:
        place = padded(place, n, padding, aligned)
        parts = [(k, 1 - abs(place - k)) for k in (math.floor(place), math.floor(place) + 1)]
    for k, weight in parts:
        if 0 <= k < n:
            weights[round(k)] += weight
    return weights


def grid_sample(x, grid, mode="bilinear", padding="zeros", aligned=False):
    y = np.zeros(x.shape[:2] + grid.shape[1:-1], np.result_type(x, np.float32))
    for batch, *place in np.ndindex(*grid.shape[:-1]):
        planes = x[batch]
        for k, n in zip(grid[(batch, *place)], reversed(x.shape[2:]), strict=True):
            planes = planes @ row(float(k), n, mode, padding, aligned).astype(y.dtype) if planes.ndim == 2 else np.tensordot(
                planes, row(float(k), n, mode, padding, aligned).astype(y.dtype), (-1, 0))  # fmt: skip
        y[(batch, slice(None), *place)] = planes
    return y


def by_numbers(x, grid, mode, padding, aligned):
    return grid_sample(x, grid, MODES[mode], PADDINGS[padding], aligned)


def points(dims):
    """Samples with a grid that crosses the edges, and keeps off what has kinks: elements and the middles between them."""

    def generate(make, named=False):
        sizes, count = (3, 4, 2)[3 - dims :], (2, 1, 1)[3 - dims :]
        fixed = np.random.default_rng(dims)
        for mode, padding, aligned in itertools.product(range(5 - dims), range(3), (False, True)):
            n = np.array(sizes[::-1])
            cells = fixed.integers(-1, n, (1, *count, dims)) + fixed.choice([0.2, 0.3, 0.7, 0.8], (1, *count, dims))
            grid = cells * 2 / (n - 1) - 1 if aligned else (cells * 2 + 1) / n - 1
            options = (MODES[mode], PADDINGS[padding], aligned) if named else (mode, padding, aligned)
            yield S(make(1, 2, *sizes), grid.astype(make.dtype), *options)
        yield S(make(0, 2, *sizes), make(0, *count, dims), *options)

    return generate


def both(make):
    yield from points(2)(make, True)
    yield from itertools.islice(points(3)(make, True), 0, 12, 3)


def both_by_numbers(make):
    yield from points(2)(make)
    yield from itertools.islice(points(3)(make), 0, 12, 3)


def affine_grid(theta, size, aligned=False):
    dims = len(size) - 2
    y = np.zeros((size[0], *size[2:], dims), np.result_type(theta, np.float32))
    for batch, *place in np.ndindex(size[0], *size[2:]):
        point = [(2 * k / (n - 1) - 1 if n > 1 else 0) if aligned else (2 * k + 1) / n - 1
                 for k, n in zip(place, size[2:], strict=True)]  # fmt: skip
        y[(batch, *place)] = theta[batch] @ np.array([*reversed(point), 1])
    return y


def maps(make):
    yield S(make(1, 2, 3), (1, 1, 2, 3), False)
    yield S(make(2, 2, 3), (2, 1, 3, 2), True)
    yield S(make(1, 3, 4), (1, 2, 2, 1, 3), False)


COLUMNS = {"dtypes": FLOATS, "forward": HALF, "result": "first"}
GRID = [
    OpInfo("nn.functional.grid_sample", grid_sample, both, **COLUMNS),
    OpInfo("grid_sampler", by_numbers, both_by_numbers, **COLUMNS, method=False),
    OpInfo("grid_sampler_2d", by_numbers, points(2), **COLUMNS, method=False),
    OpInfo("grid_sampler_3d", by_numbers, points(3), **COLUMNS, method=False),
    OpInfo("nn.functional.affine_grid", affine_grid, maps, **COLUMNS, through=quietly),
    OpInfo("affine_grid_generator", affine_grid, maps, **COLUMNS, method=False),
]
