"""Rows of the op table: statistics."""

import numpy as np
import op_references as ref
import op_samples as samples
from op_case import FLOATS, HALF, INTS, OpInfo, S

from autograd_cy._core.arrays.dtypes import kind_of


def with_mean(function):
    def reference(x, dim=None, keepdim=False, **kwargs):
        return function(x, dim=dim, keepdim=keepdim, **kwargs), np.mean(x, axis=ref.axes(x, dim), keepdims=keepdim)

    return reference


def aminmax(x, dim=None, keepdim=False):
    return [f(x, axis=ref.axes(x, dim), keepdims=keepdim) for f in (np.min, np.max)]


def only_dims(make):
    yield S(make(2, 3))
    yield S(make(2, 3), dim=0)
    yield S(make(2, 3), dim=-1, keepdim=True)
    yield S(make())


def with_nans(make):
    yield from samples.reduce_many(make)
    if kind_of(make.dtype) == "f":
        yield S(make(2, 2), dim=0, dtype=make.wide)


def nan_extremes(make):
    yield S(make.of([[np.nan, 1.0, 2.0], [np.nan, np.nan, np.nan], [np.inf, 1.0, np.nan]]), dim=1)


def parts(make):
    yield S(make(5), 0.3)
    yield S(make(2, 4), 0.6, 1)
    yield S(make(3, 2), 0.5, 0, True)
    yield S(make(2, 3), 0.5, interpolation="midpoint")
    yield S(make(2, 3), 0.3, 1, interpolation="lower")
    yield S(make(2, 3), 0.3, 1, interpolation="higher")
    yield S(make(2, 3), 0.3, 1, interpolation="nearest")
    yield S(make(), 0.5)


def quantile(function):
    def reference(x, q, dim=None, keepdim=False, interpolation="linear"):
        return function(x, q, axis=ref.axes(x, dim), keepdims=keepdim, method=interpolation)

    return reference


def numbers(make):
    yield S(make.of([1, 2, 2, 3]))
    yield S(make.of([1, 2, 2]), minlength=6)
    yield S(make.of([1, 2, 2]), np.array([1.0, 0.5, 2.0]))
    yield S(make.of([1, 2, 2]), np.array([1.0, 0.5, 2.0], np.float32))


def bincount(x, weights=None, minlength=0):
    return np.bincount(x, weights, minlength)


def histc(x, bins=100, min=0, max=0):
    return np.histogram(x, bins, (min, max) if min < max else None)[0]


def intervals(make):
    yield S(make(2, 3), 4)
    yield S(make(6), 3, -1, 2)


def edges(make):
    yield S(make(2, 3), 4)
    yield S(make(6), 3, range=(-1.0, 2.0))
    yield S(make(2, 3), 2, weight=np.abs(make(2, 3)), density=True, range=(-3.0, 3.0))


def histogram(x, bins, range=None, weight=None, density=False):
    return np.histogram(x, bins, range, density, weight)


def points(make):
    yield S(make(6, 2), 3)
    yield S(make(2, 3, 2), [2, 3], range=(-1.0, 2.0, -2.0, 2.0))
    yield S(make(6, 2), 2, weight=np.abs(make(6)), density=True)
    yield S(make(4, 1), [make.of([-3.0, 0.0, 1.0])])


def histogramdd(x, bins, range=None, weight=None, density=False):
    bounds = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    counts, edges = np.histogramdd(x.reshape(-1, x.shape[-1]), bins, bounds, density, weight)
    return [counts, *edges]


def flat(function, *args, **kwargs):
    """What histogramdd returns, as one list."""
    counts, edges = function(*args, **kwargs)
    return [counts, *edges]


def observations(make):
    yield S(make(2, 3))
    yield S(make(2, 3), correction=0)
    yield S(make(5))
    yield S(make(2, 3), fweights=np.array([1, 2, 1]))
    yield S(make(2, 3), aweights=np.array([0.5, 1.5, 1.0], make.of([1.0]).real.dtype if kind_of(make.dtype) in "fc" else "f4"))


def cov(x, correction=1, fweights=None, aweights=None):
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def variables(make):
    yield S(make(2, 4))
    yield S(make(3, 4))


def distances(make):
    yield S(make(2, 3), make(2, 3))
    yield S(make(2, 3), make(3), 1)
    yield S(make(3), make(3), 3)
    yield S(make(3), make(3), np.inf)
    yield S(make(), make())


def dist(x, y, p=2):
    return np.linalg.norm((x - y).reshape(-1), p)


def lengths(make):
    yield S(make(2, 3), 2, 0, 1.5)
    yield S(make(2, 3), 1, -1, 0.5)
    yield S(make(2, 2, 2), 3, 1, 100.0)


def renorm(x, p, dim, maxnorm):
    axes = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    sizes = np.sum(np.abs(x) ** p, axis=axes, keepdims=True) ** (1 / p)
    return x * np.where(sizes > maxnorm, maxnorm / (sizes + 1e-7), 1)


def sampled(make):
    yield S(make(4))
    yield S(make(3, 4), dim=1, edge_order=2)
    yield S(make(3, 3))
    yield S(make(2, 3), spacing=0.5)
    spaced = np.array([0.0, 1.0, 1.5, 3.0], make.dtype if kind_of(make.dtype) == "f" else "f4")
    yield S(make(4), spacing=[spaced], edge_order=2)


def slopes(x, spacing=1, dim=None, edge_order=1):
    spacing = spacing if isinstance(spacing, list) else [spacing]
    return np.gradient(x, *spacing, axis=dim, edge_order=edge_order)


REAL_VALUES = {"dtypes": (), "forward": FLOATS, "result": "first"}

STATISTICS = [
    OpInfo("var_mean", with_mean(ref.var), samples.variances, forward=HALF, result=("real", "first"), method=False),
    OpInfo("std_mean", with_mean(ref.std), samples.variances, forward=HALF, result=("real", "first"), method=False),
    OpInfo("aminmax", aminmax, only_dims, dtypes=FLOATS, forward=("bool",) + INTS + HALF, result="first"),
    OpInfo("nansum", ref.reduction(np.nansum), with_nans, dtypes=FLOATS, forward=("bool",) + INTS + HALF, result="sum",
            extremes=nan_extremes),
    OpInfo("nanmean", ref.reduction(np.nanmean), lambda make: (s for s in with_nans(make) if s.args[0].size), dtypes=FLOATS,
            forward=HALF, result="first"),
    OpInfo("quantile", quantile(np.quantile), parts, dtypes=FLOATS, forward=(), result="first"),
    OpInfo("nanquantile", quantile(np.nanquantile), parts, dtypes=FLOATS, forward=(), result="first"),
    OpInfo("bincount", bincount, numbers, dtypes=(), forward=INTS,
            result=lambda args: args[1].dtype if len(args) > 1 else np.dtype("int64")),
    OpInfo("histc", histc, intervals, dtypes=(), forward=FLOATS + HALF, result="first"),
    OpInfo("histogram", histogram, edges, **REAL_VALUES),
    OpInfo("histogramdd", histogramdd, points, through=flat, method=False, **REAL_VALUES),
    OpInfo("cov", cov, observations, forward=INTS + HALF, result="float"),
    OpInfo("corrcoef", np.corrcoef, variables, forward=INTS + HALF, result="float"),
    OpInfo("dist", dist, distances, forward=HALF, result="real"),
    OpInfo("renorm", renorm, lengths, forward=HALF, result="first"),
    OpInfo("gradient", slopes, sampled, forward=INTS[1:] + HALF, result="float", method=False),
]  # fmt: skip
