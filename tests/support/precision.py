"""The largest errors of an operation and its first two derivatives, against references of many digits.

`measured(row, dtype)` calls the operation on a fixed list of points, from the smallest exponents of the type to its largest.
The first derivative is taken by a backward, by one that records, and by forward mode, the second by two backwards and by
forward mode over a backward: the worst of these counts.
"""

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
from mpmath import mp, mpf
from precision_functions import ACTIVATIONS, SPECIAL
from precision_losses import LOSSES
from precision_numbers import Hyper, hyper
from precision_rows import BASIC, TRANSCENDENTAL, Precise

import autograd_cy as ag

ROWS = BASIC + TRANSCENDENTAL + ACTIVATIONS + SPECIAL + LOSSES
DTYPES = ("float32", "float64")
QUANTITIES = ("value", "first", "second")
TARGETS = {
    ("float32", "value"): 4.0, ("float32", "first"): 1e-5, ("float32", "second"): 1e-5,
    ("float64", "value"): 4.0, ("float64", "first"): 1e-13, ("float64", "second"): 1e-13,
}  # fmt: skip


class Error(NamedTuple):
    """The largest error, in units of the last place for values, relative for derivatives; and the inputs where it is."""

    size: float
    at: tuple[float, ...]


# the points


def magnitudes(dtype: str) -> list[float]:
    """Few of the large and small exponents, many near 1, and where exp ends."""
    rng = np.random.default_rng(1)
    most = 300 if dtype == "float64" else 37
    exponents = [*range(-most, -5, most // 10), *range(-5, 5), *range(most - 9 * (most // 10), most + 1, most // 10)]
    exponents += [e + k for e in (-3, -2, -1, 0, 1, 2) for k in (0.2, 0.4, 0.6, 0.8)]
    values = [float(rng.uniform(0.5, 1.5) * 10.0**e) for e in exponents]
    values += [1.0, 2.0, 0.5, math.pi / 2, math.pi, 19.5, 20.5, 33.0, 38.0, 50.0, 87.5, 88.5, 95.0, 103.0]
    values += [1 + s * 10.0**-k for k in ((2, 4, 6) if dtype == "float32" else (2, 4, 8, 13)) for s in (-1, 1)]
    return values + ([] if dtype == "float32" else [300.0, 360.0, 400.0, 700.0, 709.5, 720.0, 744.0])


def points(row: Precise, dtype: str) -> list[tuple[float, ...]]:
    """The inputs of the row's samples: numbers of that type within its domain."""
    sizes = magnitudes(dtype)
    numbers = [float(np.dtype(dtype).type(s * x)) for x in sizes for s in (1, -1)]
    found = [(x,) for x in (*numbers, 0.0)] if row.inputs == 1 else pairs(numbers, dtype)
    return [p for p in found if row.where is None or row.where(*p)]


def pairs(numbers: list[float], dtype: str) -> list[tuple[float, ...]]:
    """Some of all pairs, some of numbers that are near 1, some that are nearly equal."""
    rng = np.random.default_rng(2)
    usual = [x for x in numbers if 1e-3 < abs(x) < 200]
    drawn = [(float(rng.choice(numbers)), float(rng.choice(numbers))) for _ in range(60)]
    drawn += [(float(rng.choice(usual)), float(rng.choice(usual))) for _ in range(60)]
    drawn += [(float(rng.choice(usual)), float(rng.uniform(0.05, 1))) for _ in range(30)]
    drawn += [(float(rng.uniform(0.05, 1)), float(rng.choice(usual))) for _ in range(15)]
    drawn += [(x, float(x * rng.uniform(0.5, 2))) for x in rng.choice(numbers, 25)]
    return [tuple(float(np.dtype(dtype).type(x)) for x in p) for p in drawn]


# the references


def digits_for(point: tuple[float, ...], dtype: str) -> int:
    """Enough for what cancels: a tail of exp against 1, or powers of a small or large number against it."""
    end = 750 if dtype == "float64" else 110  # beyond it exp(-x) is 0
    return 50 + sum(int(x if 1 < x < end else 3 * abs(math.log10(x))) for x in map(abs, point) if x)


def reference(row: Precise, point: tuple[float, ...], dtype: str) -> dict | None:
    """The exact value under (), derivatives under (i,) and (i, j); None where the function is not defined."""
    found = {}
    with mp.workdps(row.digits or digits_for(point, dtype)):
        try:
            for i, j in itertools.combinations_with_replacement(row.wrt, 2) if row.wrt else [(0, 0)]:
                y = hyper(row.reference(*(Hyper(mpf(x), int(k == i), int(k == j)) for k, x in enumerate(point))))
                found |= {(): y.v, (i,): y.p, (j,): y.q, (i, j): y.r}
        except (ValueError, ZeroDivisionError):
            return None
    return found


# the errors


def in_ulp(got: float, exact, dtype: str) -> float:
    """The distance in units of the last place of the exact value; infinity counts as the number after the largest."""
    info = np.finfo(dtype)
    end = mp.ldexp(1, info.maxexp)
    if math.isnan(got):
        return math.inf
    y = mp.sign(got) * end if math.isinf(got) else mpf(got)
    exact = max(min(mpf(exact), end), -end)
    exponent = mp.frexp(exact)[1] if exact else -info.bits * 1000
    place = max(min(exponent, info.maxexp) - info.nmant - 1, info.minexp - info.nmant)
    return float(abs(y - exact) / mp.ldexp(1, int(place)))


def relative(got: float, exact, dtype: str) -> float:
    """The distance over the exact value. Of what is below the normal numbers, relative to the smallest of these."""
    info = np.finfo(dtype)
    if math.isinf(got) or abs(exact) >= mp.ldexp(1, info.maxexp):
        return in_ulp(got, exact, dtype) * 2.0**-info.nmant
    return math.inf if math.isnan(got) else float(abs(mpf(got) - exact) / max(abs(exact), mpf(float(info.smallest_normal))))


# what the package computes


def computed(row: Precise, arrays: list[np.ndarray]) -> dict:
    """For each quantity of `reference` the arrays by each way to compute it."""
    xs = [ag.from_numpy(x.copy()).requires_grad_(k in row.wrt) for k, x in enumerate(arrays)]
    found = {(): [row.call(*xs).detach()]}
    wanted = [xs[i] for i in row.wrt]
    if not wanted:
        return found
    plain, recorded = gradients(row, xs, wanted, False), gradients(row, xs, wanted, row.order > 1)
    for i, g, h in zip(row.wrt, plain, recorded, strict=True):
        found[i,] = [g, h.detach()]
    if row.order > 1:
        for (a, i), (b, j) in itertools.combinations_with_replacement(enumerate(row.wrt), 2):
            found[i, j] = [derivative(recorded[a], xs[j])] + ([derivative(recorded[b], xs[i])] if i != j else [])
    for j in row.wrt if row.forward else ():
        by_forward_mode(row, xs, j, found)
    return found


def gradients(row, xs, wanted, create_graph):
    return gradients_of(row.call(*xs), wanted, create_graph)


def gradients_of(y, xs, create_graph):
    ones, options = ag.ones_like(y), {"allow_unused": True, "materialize_grads": True}
    return ag.autograd.grad(y, xs, ones, retain_graph=True, create_graph=create_graph, **options)


def derivative(y, x):
    return gradients_of(y, [x], False)[0] if y.requires_grad else ag.zeros_like(x)


def by_forward_mode(row, xs, j, found):
    """The tangents of value and gradient for input j."""
    forward = ag.autograd.forward_ad
    with forward.dual_level():
        duals = [forward.make_dual(x, ag.ones_like(x)) if k == j else x for k, x in enumerate(xs)]
        y = row.call(*duals)
        found[j,].append(tangent(y))
        if row.order > 1 and y.requires_grad:
            grads = gradients_of(y, [duals[i] for i in row.wrt], True)
            for i, g in zip(row.wrt, grads, strict=True):
                found[min(i, j), max(i, j)].append(tangent(g))


def tangent(y):
    t = ag.autograd.forward_ad.unpack_dual(y).tangent
    return ag.zeros_like(y).detach() if t is None else t.detach()


@functools.lru_cache(None)
def measured(row: Precise, dtype: str) -> dict[str, Error]:
    """The largest error of each quantity that the row has."""
    with mp.workdps(50), np.errstate(all="ignore"):
        exact = {p: reference(row, p, dtype) for p in points(row, dtype)}
        exact = {p: found for p, found in exact.items() if found is not None}
        results_of = computed(row, [np.array(x, dtype) for x in zip(*exact, strict=True)])
        worst = {}
        for which, results in results_of.items():
            sizes, compare = [0.0] * len(exact), relative if which else in_ulp
            for y in {r.numpy().tobytes(): r.numpy() for r in results}.values():
                each = zip(sizes, y.tolist(), exact.values(), strict=True)
                sizes = [max(size, compare(got, e[which], str(y.dtype))) for size, got, e in each]
            at = max(range(len(sizes)), key=sizes.__getitem__)
            quantity = QUANTITIES[len(which)]
            worst[quantity] = max(worst.get(quantity, Error(-1.0, ())), Error(sizes[at], list(exact)[at]))
        return worst
