"""Rows of the op table: elements in order, and those that have a certain place in it."""

import numpy as np
import op_samples as samples
from op_case import ALL, COMPLEX, FLOATS, HALF, INTS, OpInfo, S
from op_samples import calls

REAL = tuple(d for d in ALL if d not in COMPLEX)


def at(x, places, dim, keepdim):
    """The elements at some places, one along a dimension, and the places."""
    if not x.ndim:
        return x, np.zeros((), np.int64)
    places = np.expand_dims(places, dim)
    found = [np.take_along_axis(x, places, dim), places]
    return found if keepdim else [y.squeeze(dim) for y in found]


def in_order(x, dim=-1, descending=False):
    """The places that sort, of equal elements in their order."""
    if not x.ndim:
        return np.zeros((), np.int64)
    if descending:
        return x.shape[dim] - 1 - np.flip(np.argsort(np.flip(x, dim), dim, kind="stable"), dim)
    return np.argsort(x, dim, kind="stable")


def sort(x, dim=-1, descending=False, stable=False):
    places = in_order(x, dim, descending)
    return (np.take_along_axis(x, places, dim) if x.ndim else x), places


def kthvalue(x, k, dim=-1, keepdim=False):
    return at(x, np.take(in_order(x, dim), k - 1, dim) if x.ndim else None, dim, keepdim)


def median(x, dim=None, keepdim=False, skips=False):
    rows = x.reshape(-1) if dim is None else x
    nans = np.isnan(rows).sum(dim or 0, keepdims=True) if rows.ndim else 0
    count = rows.shape[dim or 0] if rows.ndim else 1
    middle = (count - nans - 1) // 2
    middle = np.maximum(middle, 0) if skips else np.where(nans, count - nans, middle)
    places = np.take_along_axis(in_order(rows, dim or 0), middle, dim or 0).squeeze(dim or 0) if rows.ndim else None
    found = at(rows, places, dim or 0, keepdim)
    return found[0] if dim is None else found


def nanmedian(x, dim=None, keepdim=False):
    return median(x, dim, keepdim, skips=True)


def mode(x, dim=-1, keepdim=False):
    """Of the most frequent elements the smallest, at the last place where it is."""

    def place(row):
        values, counts = np.unique(row, return_counts=True)
        return np.flatnonzero(row == values[np.argmax(counts)])[-1]

    return at(x, np.apply_along_axis(place, dim, x) if x.ndim else None, dim, keepdim)


def orders(make):
    yield from samples.along_dim(make)
    yield S(make(3, 2), 0, True)
    yield S(make(5), descending=True)
    yield S(make.of([2.0, 1.0, 3.0, 1.5]), stable=True)


def order_extremes(make):
    """Nans are the largest; equal elements, zeros of both signs too, keep their order."""
    rows = [[np.nan, 1.0, -np.inf, np.inf, np.nan], [0.0, -0.0, 0.0, -1.0, 0.0], [2.0, 1.0, 2.0, 1.0, 2.0]]
    yield S(make.of(rows))
    yield S(make.of(rows), -1, True)


def selections(make):
    yield S(make(5), 2)
    yield S(make(2, 3), 1, 0)
    yield S(make(2, 3), 3, -1, True)
    yield S(make(), 1)


def middles(make):
    yield S(make(5))
    yield S(make(2, 3), 0)
    yield S(make(2, 4), -1, True)
    yield S(make())
    yield S(make(), 0)


def middle_extremes(make):
    yield S(make.of([[np.nan, 1.0, 2.0], [3.0, 2.0, 1.0], [np.nan, np.nan, np.nan]]), 1)
    yield S(make.of([2.0, np.nan, 1.0, 4.0]))


def modes(make):
    yield from samples.along_dim(make)
    yield S(make(2, 3), dim=1, keepdim=True)
    yield S(make(3))


def mode_extremes(make):
    yield S(make.of([[1.0, 2.0, 1.0, 2.0, 0.0], [3.0, 3.0, 1.0, 3.0, 1.0]]))


VALUES = {"dtypes": FLOATS, "result": ("first", "int64")}

SORTING = [
    OpInfo("sort", sort, orders, forward=tuple(d for d in REAL if d not in FLOATS), extremes=order_extremes, **VALUES),
    OpInfo("argsort", in_order, lambda make: (s for s in orders(make) if "stable" not in s.kwargs), dtypes=(), forward=REAL,
            result="int64", extremes=order_extremes),
    OpInfo("msort", lambda x: np.sort(x, 0) if x.ndim else x, calls(([4],), ([3, 2],), ([],)), dtypes=FLOATS,
            forward=("bool",) + INTS + HALF, result="first"),
    OpInfo("kthvalue", kthvalue, selections, forward=INTS + HALF, **VALUES),
    OpInfo("median", median, middles, forward=INTS + HALF, extremes=middle_extremes, **VALUES),
    OpInfo("nanmedian", nanmedian, middles, forward=INTS + HALF, extremes=middle_extremes, **VALUES),
    OpInfo("mode", mode, lambda make: (s for s in modes(make) if s.args[0].size), forward=("bool",) + INTS + HALF,
            extremes=mode_extremes, **VALUES),
]  # fmt: skip
