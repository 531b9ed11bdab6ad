"""Rows of the op table: elements read, written and combined by numbers along a dimension, or by masks."""

import numpy as np
import op_references as ref
from op_case import FLOATS, INTS, OpInfo, S

from autograd_cy._core.arrays.dtypes import kind_of


def _row(path, reference, generate, **columns):
    return OpInfo(path, reference, generate, **{"result": "first"} | columns)


# references


def _along(x, dim, index):
    """The index of whole rows, as one for each element of the source."""
    column = index.reshape(-1, *[1] * (max(x.ndim, 1) - 1))
    return np.moveaxis(np.broadcast_to(column, (index.size, *_others(x, dim))), 0, dim)


def _others(x, dim):
    sizes = list(np.atleast_1d(x).shape)
    del sizes[dim]
    return sizes


def _index_fill(x, dim, index, value):
    y = np.atleast_1d(x).copy()
    np.moveaxis(y, dim, 0)[index] = value
    return y.reshape(x.shape)


def _index_copy(x, dim, index, source):
    return ref.scatter(x, dim, _along(x, dim, index), np.atleast_1d(source))


def _scatter_reduce(x, dim, index, src, reduce, include_self=True):
    y, src, index = np.atleast_1d(x).copy(), np.atleast_1d(src), np.atleast_1d(index)
    found: dict = {}
    for place, number in np.ndenumerate(index):
        target = list(place)
        target[dim] = number
        found.setdefault(tuple(target), []).append(src[place])
    combine = {"sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min, "mean": _mean}[reduce]
    for target, values in found.items():
        y[target] = combine([y[target], *values] if include_self else values)
    return y.reshape(x.shape)


def _mean(values):
    total = np.sum(values)
    return total // len(values) if kind_of(np.asarray(values).dtype) in "ui" else total / len(values)


def _index_reduce(x, dim, index, source, reduce, include_self=True):
    return _scatter_reduce(x, dim, _along(x, dim, index), np.atleast_1d(source), reduce, include_self)


def _put(x, index, source, accumulate=False):
    y = x.copy().reshape(-1)
    for number, value in zip(index.ravel(), source.ravel(), strict=True):
        y[number] = y[number] + value if accumulate else value
    return y.reshape(x.shape)


def _masked_scatter(x, mask, source):
    x, chosen = np.broadcast_arrays(x, mask)
    y = x.copy()
    y[chosen] = source.ravel()[: np.count_nonzero(chosen)]
    return y


def _take_along_dim(x, indices, dim=None):
    if dim is None:
        return x.ravel()[indices.ravel()]
    return np.take_along_axis(x, indices, dim) if x.ndim else x


def _repeat_interleave(x, repeats, dim=None):
    return np.repeat(x, repeats, dim)


# samples


def _index_fills(make):
    yield S(make(3, 2), 0, np.array([0, 2]), 2)
    yield S(make(2, 3), -1, np.array([1, 1]), make())
    yield S(make(3), 0, np.array([], np.int64), 1)
    yield S(make(), 0, np.array([0]), make())


def _index_copies(make):
    yield S(make(3, 2), 0, np.array([2, 0]), make(2, 2))
    yield S(make(2, 3), -1, np.array([1]), make(2, 1))
    yield S(make(2, 3), 1, np.array([], np.int64), make(2, 0))
    yield S(make(), 0, np.array([0]), make())


def _fitting(names, make):
    """Complex numbers have no order, bools no mean."""
    fitting = {"c": ("sum", "prod", "mean"), "b": ("sum", "prod")}.get(kind_of(make.dtype), names)
    return [name for name in names if name in fitting]


def _reductions(names):
    def generate(make):
        for name in _fitting(names, make):
            yield S(make(3), 0, np.array([0, 1, 0]), make(3), name)
            yield S(make(2, 3), -1, np.array([[0, 1, 1], [2, 2, 0]]), make(2, 3), name, include_self=False)
        yield S(make(3, 2), 0, np.array([[2, 0]]), make(1, 2), "prod")
        yield S(make(), 0, np.array(0), make(), "prod")
        yield S(make(2, 2), 1, np.zeros((2, 0), np.int64), make(2, 0), "prod")

    return generate


def _index_reductions(make):
    for name in _fitting(("prod", "mean", "amax", "amin"), make):
        yield S(make(3, 2), 0, np.array([2, 0, 2]), make(3, 2), name)
        yield S(make(2, 3), 1, np.array([1, 1]), make(2, 2), name, include_self=False)
    yield S(make(3), 0, np.array([0]), make(1), "prod")
    yield S(make(), 0, np.array([0]), make(), "prod")


def _puts(make):
    yield S(make(2, 3), np.array([5, 0]), make(2))
    yield S(make(2, 2), np.array([[0, -1]]), make(1, 2))
    yield S(make(3), np.array([1, 1, 0]), make(3), True)
    yield S(make(3), np.array([], np.int64), make(0))
    yield S(make(), np.array([0]), make(1))


def _takes(make):
    yield S(make(2, 3), np.array([5, 0, 0, -1]))
    yield S(make(3), np.array([[1, 2], [0, 1]]))
    yield S(make(), np.array([0, 0]))
    yield S(make(2, 2), np.array([], np.int64))


def _takes_along(make):
    yield S(make(2, 3), np.array([[2, 0], [1, 1]]), 1)
    yield S(make(2, 3), np.array([[-1, 0, 1]]), 0)
    yield S(make(2, 3), np.array([[5], [0]]))
    yield S(make(1, 3), np.array([[0, 1], [2, 2]]), dim=-1)


def _masked_scatters(make):
    mask = np.array([[True, False, True], [False, False, True]])
    yield S(make(2, 3), mask, make(6))
    yield S(make(2, 3), mask[0], make(2, 3))
    yield S(make(3), mask, make(7))
    yield S(make(), np.array(True), make(1))
    yield S(make(2), np.array([False, False]), make(0))


def _repeats(make):
    yield S(make(3), 2)
    yield S(make(2, 2), 2, 1)
    yield S(make(2, 3), 0, -1)
    yield S(make(2), 1)


def _numbers(make):
    yield S(make.of([1, 3, 5]), (2, 3))
    yield S(make.of([[0], [2]]), (3,))


INDEXING_ROWS = [
    _row("index_fill", _index_fill, _index_fills),
    _row("index_copy", _index_copy, _index_copies),
    _row("scatter_reduce", _scatter_reduce, _reductions(("sum", "prod", "mean", "amax", "amin"))),
    _row("index_reduce", _index_reduce, _index_reductions, dtypes=FLOATS),
    _row("put", _put, _puts),
    _row("take", lambda x, index: x.ravel()[index], _takes),
    _row("take_along_dim", _take_along_dim, _takes_along),
    _row("masked_scatter", _masked_scatter, _masked_scatters),
    _row("repeat_interleave", _repeat_interleave, _repeats),
    OpInfo("unravel_index", lambda x, shape: [np.asarray(i) for i in np.unravel_index(x.astype(np.int64), shape)], _numbers,
           dtypes=(), forward=INTS, result="int64", method=False),
]  # fmt: skip
