"""Rows of the op table: running sums and the like, differences of neighbours, areas."""

import numpy as np
import op_references as ref
import op_samples as samples
from op_case import FLOATS, HALF, INTS, OpInfo, S

from autograd_cy._core.arrays.dtypes import kind_of


def scan(function):
    """A NumPy ufunc's accumulate under PyTorch's names."""
    return lambda x, dim, dtype=None: function.accumulate(x, axis=dim) if x.ndim else x


def running_extreme(function):
    """The values, and the last place of each up to its own."""

    def reference(x, dim):
        if not x.ndim:
            return x, np.zeros((), np.int64)
        values = function.accumulate(x, axis=dim)
        numbers = np.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - 1 - dim % x.ndim))
        return values, np.maximum.accumulate(np.where((x == values) | np.isnan(x), numbers, 0), axis=dim)

    return reference


def logcumsumexp(x, dim):
    """Of complex numbers, too."""
    return np.log(np.cumsum(np.exp(x), axis=dim)) if x.ndim else x


def along_dim_zeros(make):
    """Products of which one, or more than one, factor is zero."""
    yield from samples.along_dim_dtype(make)
    yield S(make.of([[2.0, 0.0, 3.0], [0.0, 0.0, 1.5]]), dim=1)


def tied(make):
    yield from samples.along_dim(make)
    if kind_of(make.dtype) != "f":
        yield S(make.of([2, 3, 3, 1, 3]), dim=0)


def tied_extremes(make):
    yield S(make.of([[1.0, np.nan, 2.0], [np.inf, np.inf, -np.inf], [0.0, -0.0, 0.0]]), dim=1)


def far_apart(make):
    """Of which the exponentials are more than a type holds, or nothing beside others."""
    yield S(make.of([-1e3, 0.0, 90.0, 5.0, 90.5]), dim=0)


def logcumsumexp_far(x, dim):
    return np.logaddexp.accumulate(x, axis=dim)


def diff(x, n=1, dim=-1, prepend=None, append=None):
    ends = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    return np.diff(x, n, dim, **ends)


def diffs(make):
    yield S(make(4))
    yield S(make(2, 3), 1, 0)
    yield S(make(2, 3), n=0)
    yield S(make(2, 4), 2)
    yield S(make(2, 2), 3)
    yield S(make(2, 3), 1, 1, make(2, 2))
    yield S(make(2, 3), 1, 0, None, make(1, 3))
    yield S(make(0, 3), dim=0)


def areas(make):
    """Points are in order, so that no difference of unsigned ones wraps."""
    yield S(make(4))
    yield S(make(2, 3), dim=0)
    yield S(make(2, 3), dx=0.5)
    yield S(make(2, 3), np.sort(make(3)))
    yield S(make(2, 3), np.sort(make(2)), dim=0)
    yield S(make(2, 3), np.sort(make(2, 3)), dim=-1)
    yield S(make(2, 2, 3), np.sort(make(2, 3), axis=0), dim=1)
    yield S(make(2, 1))


def points(x, y, dim):
    """In the shape of y."""
    return np.broadcast_to(x.reshape((-1,) + (1,) * (y.ndim - 1 - dim % y.ndim)) if x.ndim == 1 else x, y.shape)


def trapezoid(y, x=None, dx=1, dim=-1):
    return np.trapezoid(y, x if x is None else points(x, y, dim), dx, dim)


def cumulative_trapezoid(y, x=None, dx=1, dim=-1):
    after, before = (np.take(y, range(i, y.shape[dim] - 1 + i), dim) for i in (1, 0))
    if x is not None:
        dx = np.diff(points(x, y, dim), axis=dim)
    return np.cumsum((after + before) * dx / 2, dim)


REAL = {"dtypes": FLOATS, "forward": ("bool",) + INTS + HALF, "result": ("first", "int64")}
AREA = {"forward": INTS + HALF, "result": "float", "method": False}

SCANS = [
    OpInfo("cumsum", ref.cumsum, samples.along_dim_dtype, result="sum", extremes=samples.along_dim_extremes),
    OpInfo("cumprod", scan(np.multiply), along_dim_zeros, result="sum"),
    OpInfo("cummax", running_extreme(np.maximum), tied, extremes=tied_extremes, **REAL),
    OpInfo("cummin", running_extreme(np.minimum), tied, extremes=tied_extremes, **REAL),
    OpInfo("logcumsumexp", logcumsumexp, samples.along_dim, forward=HALF, result="float"),
    OpInfo("diff", diff, diffs, result="first"),
    OpInfo("trapezoid", trapezoid, areas, **AREA),
    OpInfo("trapz", trapezoid, areas, **AREA),
    OpInfo("cumulative_trapezoid", cumulative_trapezoid, areas, **AREA),
]  # fmt: skip
