"""Every operation under vmap: the samples of a batch, computed at once, are what each gives by itself."""

import contextlib
import warnings

import numpy as np
import pytest
from op_calls import Call, each_sample, noted, seeds_for, to_numpy
from op_case import map_arrays
from opinfo import DIFFERENTIABLE, OPS

import autograd_cy as ag

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writ")

SIZE = 3
TOLERANCE = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4, "float64": 1e-11, "complex128": 1e-11}


class Batch:
    """A row called with a sample in which some of the tensors are those of a batch.

    The samples of the batch are the arrays with their elements in another order each, so that they stay in their domain.
    """

    def __init__(self, row, sample, choose):
        self.op, self.arrays = row.function(ag), []
        self.args = map_arrays(self._slot, sample.args)
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

    def tensors(self, requires_grad=False):
        made = [ag.from_numpy(np.copy(a)) for a in self.values]
        return [t.requires_grad_(t.is_floating_point() or t.is_complex()) for t in made] if requires_grad else made

    def __call__(self, *tensors):
        found = self.op(*_fill(self.args, tensors), **_fill(self.kwargs, tensors))
        return (found,) if isinstance(found, ag.Tensor) else tuple(found)

    def one_by_one(self, tensors, function=None):
        """The results of the samples, each by itself, stacked."""
        runs = [
            (function or self)(*[t[n] if c else t for t, c in zip(tensors, self.chosen, strict=True)]) for n in range(SIZE)
        ]
        return [ag.stack(column) for column in zip(*runs, strict=True)]

    def at_once(self, tensors, function=None):
        in_dims = tuple(0 if c else None for c in self.chosen)
        with no_loops():
            return list(ag.vmap(function or self, in_dims)(*tensors))


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


@each_sample(OPS, dtypes)
def test_batches(row, sample):
    for batch in batches(row, sample):
        tensors = batch.tensors()
        expected = batch.one_by_one(tensors)
        same(batch.at_once(tensors), expected, str(expected[0].dtype).removeprefix("torch."))


@each_sample(DIFFERENTIABLE, dtypes)
def test_gradients_of_a_batch_of_seeds(row, sample):
    """is_grads_batched: the engine computes on batches, by the rules on Tensors."""
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = [y for y in call.function(*leaves) if y.requires_grad]
    seeds = [
        ag.from_numpy(np.stack(column)) for column in zip(*[seeds_for(outputs, salt) for salt in range(SIZE)], strict=True)
    ]
    with no_loops():
        found = ag.autograd.grad(outputs, leaves, seeds, retain_graph=True, allow_unused=True, is_grads_batched=True)
    runs = [
        ag.autograd.grad(outputs, leaves, [seed[n] for seed in seeds], retain_graph=True, allow_unused=True)
        for n in range(SIZE)
    ]
    for g, column in zip(found, zip(*runs, strict=True), strict=True):
        assert (g is None) == (column[0] is None)
        if g is not None:
            same([g], [ag.stack(column)], str(g.dtype).removeprefix("torch."))
