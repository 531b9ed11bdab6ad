"""Rows of the op table called with the samples of a batch: at once by vmap, and one by one."""

import contextlib
import warnings

import numpy as np
from op_calls import noted, to_numpy
from op_case import map_arrays

import autograd_cy as ag

SIZE = 3
TOLERANCE = {"float16": 1e-2, "bfloat16": 8e-2, "float32": 1e-4, "complex64": 1e-4, "float64": 1e-11, "complex128": 1e-11}


class Batch:
    """A row called with a sample in which some of the tensors are those of a batch.

    The samples of the batch are the arrays with their elements in another order each, so that they stay in their domain.
    """

    def __init__(self, row, sample, choose):
        self.op, self.arrays = row.function(ag), []
        self.args = map_arrays(self._slot, sample.args)
        self.by_position = len(self.arrays)
        self.kwargs = map_arrays(
            self._slot, {k: getattr(ag, v.__name__) if isinstance(v, type) else v for k, v in sample.kwargs.items()}
        )
        self.chosen = [choose(k, array) for k, array in enumerate(self.arrays)]
        self.values = [
            np.stack([self._varied(a, n) for n in range(SIZE)]) if c else a
            for a, c in zip(self.arrays, self.chosen, strict=True)
        ]

    def _slot(self, array):
        self.arrays.append(array)
        return _Slot(len(self.arrays) - 1)

    def _varied(self, array, n):
        """The array for the n-th sample: the first one's, or its elements moved on."""
        return np.roll(array.reshape(-1), n).reshape(array.shape) if array.size else array

    def tensors(self):
        return [ag.from_numpy(np.copy(a)) for a in self.values]

    def arguments(self, tensors):
        return _fill(self.args, tensors), _fill(self.kwargs, tensors)

    def __call__(self, *tensors):
        args, kwargs = self.arguments(tensors)
        found = self.op(*args, **kwargs)
        return (found,) if isinstance(found, ag.Tensor) else tuple(found)

    @property
    def in_dims(self):
        return tuple(0 if c else None for c in self.chosen)

    def one_by_one(self, tensors):
        """The results of the samples, each by itself, stacked."""
        return loop(self, self.in_dims)(*tensors)

    def at_once(self, tensors):
        return at_once(self, self.in_dims)(*tensors)


def at_once(function, in_dims, out_dims=0):
    """vmap(function, in_dims, out_dims), by batching rules alone."""
    mapped = ag.vmap(function, in_dims, out_dims)

    def call(*tensors):
        with no_loops():
            return mapped(*tensors)

    return call


def loop(function, in_dims):
    """The same of a function to a tuple, sample by sample; the batch is the first dimension of the results."""

    def call(*tensors):
        parts = [[x] * SIZE if d is None else x.unbind(d) for x, d in zip(tensors, in_dims, strict=True)]
        runs = [function(*sample) for sample in zip(*parts, strict=True)]
        return tuple(ag.stack(column) for column in zip(*runs, strict=True))

    return call


@contextlib.contextmanager
def no_loops():
    """Within it an operation without a batching rule is an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="There is a performance drop")
        yield


class _Slot:
    def __init__(self, index):
        self.index = index


def _fill(value, tensors):
    if isinstance(value, _Slot):
        return tensors[value.index]
    if isinstance(value, dict):
        return {key: _fill(item, tensors) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fill(item, tensors) for item in value)
    return value


def choices(sample):
    """Which tensors of a sample are batched: all, and each by itself."""
    arrays = []
    map_arrays(arrays.append, sample.args)
    map_arrays(arrays.append, sample.kwargs)
    n = len(arrays)
    picks = [lambda k, array: True]
    if 1 < n <= 4:
        picks += [lambda k, array, own=own: k == own for own in range(n)]
    return picks


def same(found, expected, dtype, values=True):
    assert len(found) == len(expected)
    for y, z in zip(found, expected, strict=True):
        assert y.shape == z.shape and y.dtype == z.dtype, (y.shape, z.shape, y.dtype, z.dtype)
        y, z = to_numpy(y), to_numpy(z)
        tolerance = TOLERANCE.get(dtype, 1e-6)
        np.testing.assert_allclose(y, z, rtol=tolerance, atol=tolerance)


def batches(row, sample):
    """The sample with its tensors batched, all and one by one; masks that are an index are the same for all."""
    for choose in choices(sample):
        is_index = row.name in ("getitem", "index_put")
        batch = Batch(row, sample, lambda k, a: choose(k, a) and not (is_index and a.dtype in (bool, np.uint8)))  # noqa: B023
        if any(batch.chosen):
            with noted(f"batched: {batch.chosen}"):
                yield batch


def dtypes(row):
    return [name for name in ("float64", "float32", "complex128") if name in row.dtypes] or row.dtypes[:1]
