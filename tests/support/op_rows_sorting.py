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


# where elements are, and which there are


def masks(make):
    mask = np.array([[True, False, True], [False, False, True]])
    yield S(make(2, 3), mask)
    yield S(make(3), mask)
    yield S(make(2, 3), np.array([True, False, True]))
    yield S(make(), np.array(True))
    yield S(make(0), np.zeros(0, bool))


def masked_select(x, mask):
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


def sparse(make):
    yield S(make.of([[0.0, 1.0, 2.0], [0.0, 0.0, 1.5]]))
    yield S(make.of([0.0, 1.0, 0.0]))
    yield S(make.of(2.0))
    yield S(make(0, 3))


def sparse_sizes(make):
    yield S(make.of([[0.0, 1.0, 2.0], [0.0, 0.0, 1.5]]), size=4)
    yield S(make.of([0.0, 1.0, 2.0]), size=1, fill_value=3)


def nonzero_static(x, size, fill_value=-1):
    found = np.argwhere(x)[:size]
    return np.concatenate((found, np.full((size - len(found), x.ndim), fill_value)))


def counts(make):
    yield S(make.of([[0.0, 1.0, 2.0], [0.0, 0.0, 1.5]]))
    yield S(make.of([[0.0, 1.0, 2.0], [0.0, 0.0, 1.5]]), 1)
    yield S(make.of([[0.0, 1.0, 2.0], [0.0, 0.0, 1.5]]), (0, -1))
    yield S(make())


def joined_bits(x, dim=(), keepdim=False):
    """The bits of all numbers, or along some dimensions, by xor."""
    bits = np.asarray(x.astype(np.float64 if x.dtype.kind in "fV" else np.int64)).view(np.uint64)
    return np.bitwise_xor.reduce(bits, (dim or tuple(range(x.ndim))) if isinstance(dim, tuple) else dim, keepdims=keepdim)


def hashed(make):
    yield S(make.of([[0.5, 1.0, 2.0], [0.0, 0.0, 1.5]]))
    yield S(make.of([[0.5, 1.0, 2.0], [0.0, 0.0, 1.5]]), 1)
    yield S(make.of([[0.5, 1.0, 2.0], [0.0, 0.0, 1.5]]), -2, keepdim=True)
    yield S(make.of([[0.5, 1.0, 2.0], [0.0, 0.0, 1.5]]), (0, -1))
    yield S(make())


def repeated(make):
    rows = make.of([[1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    yield S(rows[0])
    yield S(rows[0], return_counts=True)
    yield S(rows[0], return_inverse=True)


def unique(x, return_inverse=False, return_counts=False):
    return np.unique(x, return_inverse=return_inverse, return_counts=return_counts)


def consecutive(x, return_inverse=False, return_counts=False):
    starts = np.flatnonzero(np.concatenate(([True], x[1:] != x[:-1])))
    lengths = np.diff(starts, append=x.size)
    return [x[starts]] + [np.repeat(range(len(starts)), lengths)] * return_inverse + [lengths] * return_counts


def different(make):
    """In whatever order they are, none equals the one before."""
    yield S(make.of([1.0, 2.0, 3.0]))
    yield S(make.of([1.0, 2.0, 1.0, 2.0]), return_counts=True)
    yield S(make.of([1.0, 2.0, 3.0]), return_inverse=True)


def sequences(make):
    """Which are in order, in whatever order their elements are."""
    yield S(make.of([1.0, 1.0, 1.0]), make(2, 3))
    yield S(make.of([1.0, 1.0, 1.0]), make.of([1.0, 2.0]), right=True)
    yield S(make.of([[1.0], [1.0]]), make.of([[1.0, 1.5], [0.0, 3.0]]), side="right")


def longer_sequences(make):
    yield S(make.of([0.0, 1.0, 2.0]), make(2, 3))
    yield S(make.of([0.0, 1.0, 2.0]), make.of([1.0, 2.0]), right=True)
    yield S(make.of([[0.0, 1.0, 2.0], [1.0, 1.0, 2.0]]), make.of([[1.0, 1.5], [0.0, 3.0]]), side="right")


def searchsorted(rows, x, right=False, side=None):
    side = "right" if right or side == "right" else "left"
    if rows.ndim == 1:
        return np.searchsorted(rows, x, side)
    return np.stack([np.searchsorted(row, values, side) for row, values in zip(rows, x, strict=True)])


def buckets(make):
    yield S(make(2, 3), make.of([1.0, 1.0]))
    yield S(make.of([1.0, 2.0]), make.of([1.0, 1.0]), right=True)
    yield S(make(), make.of([1.0]))


def more_buckets(make):
    yield S(make(2, 3), make.of([0.0, 1.0, 2.0]))
    yield S(make.of([1.0, 2.0]), make.of([0.0, 1.0, 2.0]), right=True)


def bucketize(x, edges, right=False):
    return np.searchsorted(edges, x, "right" if right else "left")


PLACES = {"dtypes": (), "forward": ALL, "result": "int64"}
NUMBERS = {"dtypes": (), "forward": INTS + HALF + FLOATS, "result": "int64", "method": False}
DIFFERENT = {"dtypes": (), "forward": REAL, "result": ("first", "int64", "int64")}

SORTING += [
    OpInfo("masked_select", masked_select, masks, result="first"),
    OpInfo("nonzero", lambda x: np.argwhere(x), sparse, **PLACES),
    OpInfo("argwhere", lambda x: np.argwhere(x), sparse, **PLACES),
    OpInfo("nonzero_static", nonzero_static, sparse_sizes, **PLACES),
    OpInfo("count_nonzero", lambda x, dim=None: np.count_nonzero(x, axis=dim), counts, **PLACES),
    OpInfo("hash_tensor", joined_bits, hashed, dtypes=(), forward=REAL, result=lambda _: "uint64"),
    OpInfo("unique", unique, repeated, **DIFFERENT),
    OpInfo("unique_consecutive", consecutive, different, extremes=repeated, **DIFFERENT),
    OpInfo("searchsorted", searchsorted, sequences, extremes=longer_sequences, **NUMBERS),
    OpInfo("bucketize", bucketize, buckets, extremes=more_buckets, **NUMBERS),
]  # fmt: skip
