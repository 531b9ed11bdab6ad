"""Every operation under vmap along any dimension, within vmap, under grad and jvp, and in place: as sample by sample."""

import numpy as np
import pytest
from op_batches import SIZE, Batch, at_once, batches, loop, same
from op_calls import each_sample, noted, seeds_for
from opinfo import DIFFERENTIABLE, OPS

import autograd_cy as ag
from autograd_cy.func import grad, jvp

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writ")

SMOOTH = [row for row in DIFFERENTIABLE if not row.fixed]
IN_PLACE = [row for row in OPS if hasattr(ag.Tensor, row.name + "_") and row.path.count(".") < 2]


def one(row):
    """One dtype, which finds what has to do with dimensions."""
    return ("float64",) if "float64" in row.dtypes + row.forward else (row.dtypes + row.forward)[:1]


def whole(row, sample):
    """The sample with all its tensors batched (but masks that are an index); none if there is no tensor."""
    return next(iter(batches(row, sample)), None)


def same_everywhere(found, expected):
    same(found, expected, str(expected[0].dtype).removeprefix("torch.") if expected else "")


@each_sample(OPS, one)
def test_along_each_dimension(row, sample):
    """The samples lie along any dimension of the arguments, counted from either end, and along the last of the results."""
    batch = whole(row, sample)
    if batch is None:
        return
    tensors = batch.tensors()
    expected = [y.permute(*range(1, y.ndim), 0) for y in batch.one_by_one(tensors)]
    for k in range(1, max(x.ndim for x in tensors) + 1):
        dims = [min(k, x.ndim - 1) if c else None for x, c in zip(tensors, batch.chosen, strict=True)]
        moved = [
            x if d is None else x.permute(*range(1, d + 1), 0, *range(d + 1, x.ndim))
            for x, d in zip(tensors, dims, strict=True)
        ]
        backwards = tuple(d if d is None else d - x.ndim for x, d in zip(moved, dims, strict=True))
        for in_dims in (tuple(dims), backwards):
            same_everywhere(at_once(batch, in_dims, -1)(*moved), expected)


class TwoBatches(Batch):
    """A row called with a sample in which tensors are those of a batch, of another one, or of both."""

    def __init__(self, row, sample, levels):
        """levels(k): whether the k-th tensor is batched in the outer batch, and whether in the inner one."""
        is_index = row.name in ("getitem", "index_put")
        super().__init__(row, sample, lambda k, a: False)
        masks = [is_index and a.dtype in (bool, np.uint8) for a in self.arrays]
        self.levels = [(False, False) if mask else levels(k) for k, mask in enumerate(masks)]
        self.values = [self._samples(a, *level) for a, level in zip(self.arrays, self.levels, strict=True)]
        self.outer = tuple(0 if level[0] else None for level in self.levels)
        self.inner = tuple(0 if level[1] else None for level in self.levels)

    def _samples(self, array, outer, inner):
        sizes = (SIZE,) * (outer + inner)
        parts = [self._varied(array, n) for n in range(int(np.prod(sizes)))]
        return np.stack(parts).reshape(*sizes, *array.shape) if sizes else array


LEVELS = {
    "both": lambda k: (True, True),
    "in turn": lambda k: (k % 2 == 0, k % 2 == 1),
    "in turn, the other way": lambda k: (k % 2 == 1, k % 2 == 0),
    "the first in both": lambda k: (True, k == 0),
}


@each_sample(OPS, one)
def test_within_vmap(row, sample):
    for name, levels in LEVELS.items():
        batch = TwoBatches(row, sample, levels)
        tensors = batch.tensors()
        if (len(tensors) < 2 and name != "both") or not all(map(any, zip(*batch.levels, strict=True))):
            continue
        with noted(f"levels: {name}"):
            found = at_once(ag.vmap(batch, batch.inner), batch.outer)(*tensors)
            same_everywhere(found, loop(loop(batch, batch.inner), batch.outer)(*tensors))


def has_derivative(x):
    return x.is_floating_point() or x.is_complex()


def seeded(function):
    """A function of tensors to a number: the sum of the function's results, each element times a number of its own."""

    def objective(*tensors):
        outputs = [y for y in function(*tensors) if has_derivative(y)]
        seeds = seeds_for([ag.zeros(y.shape, dtype=y.dtype) for y in outputs])
        total = sum((y * ag.from_numpy(seed)).sum() for y, seed in zip(outputs, seeds, strict=True))
        return total.real if total.is_complex() else total

    return objective


def inputs_of(batch, tensors):
    """The places of the tensors that are differentiated: those given by position."""
    return tuple(k for k, x in enumerate(tensors[: batch.by_position]) if has_derivative(x))


def assert_slopes(batch, function, tensors):
    """The gradients of each sample are those of the loop."""
    argnums = inputs_of(batch, tensors)
    if argnums:
        slopes = grad(seeded(function), argnums)
        same_everywhere(at_once(slopes, batch.in_dims)(*tensors), loop(slopes, batch.in_dims)(*tensors))


@each_sample(SMOOTH, one)
def test_under_grad(row, sample):
    for batch in batches(row, sample):
        assert_slopes(batch, batch, batch.tensors())


@each_sample(SMOOTH, one)
def test_under_jvp(row, sample):
    """Each sample has tangents of its own, also for what is the same for all."""
    for batch in batches(row, sample):
        tensors = batch.tensors()
        places = inputs_of(batch, tensors)
        rows = [tensors[k] if batch.chosen[k] else ag.stack([tensors[k]] * SIZE) for k in places]
        tangents = [x.cos() * 2 for x in rows]
        n = len(tensors)

        def products(*values):
            def function(*chosen):
                given = list(values[:n])  # noqa: B023
                for k, x in zip(places, chosen, strict=True):  # noqa: B023
                    given[k] = x
                return tuple(y for y in batch(*given) if has_derivative(y))  # noqa: B023

            return jvp(function, tuple(values[k] for k in places), values[n:])[1]  # noqa: B023

        if places:
            in_dims = batch.in_dims + (0,) * len(places)
            values = (*tensors, *tangents)
            same_everywhere(at_once(products, in_dims)(*values), loop(products, in_dims)(*values))


def in_place(row, batch, turned):
    """The operation written into a copy of its first argument, or into a transposed view of one: a function to (copy,)."""

    def function(*tensors):
        (x, *args), kwargs = batch.arguments(tensors)
        copy = x.transpose(0, -1).clone() if turned else x.clone()
        target = copy.transpose(0, -1) if turned else copy
        assert getattr(target, row.name + "_")(*args, **kwargs) is target
        return (copy,)

    return function


@each_sample(IN_PLACE, one)
def test_in_place(row, sample):
    if not isinstance(sample.args[0], np.ndarray):
        return
    for batch in batches(row, sample):
        for turned in (False, True)[: 1 + (sample.args[0].ndim > 1)]:
            with noted(f"turned: {turned}"):
                check_in_place(batch, in_place(row, batch, turned), row.differentiable and not row.fixed)


def check_in_place(batch, function, differentiable):
    tensors = batch.tensors()
    found = at_once(function, batch.in_dims)
    if not batch.chosen[0]:
        with pytest.raises(RuntimeError, match=r"vmap: (\w+_|inplace arithmetic)\(self, \*extra_args\) is not"):
            found(*tensors)
        return
    try:
        expected = loop(function, batch.in_dims)(*tensors)
    except (RuntimeError, TypeError, IndexError) as error:
        with pytest.raises(type(error)):
            found(*tensors)
        return
    same_everywhere(found(*tensors), expected)
    if differentiable:
        assert_slopes(batch, function, tensors)


@each_sample([row for row in OPS if row.name == "getitem"], one)
def test_items_that_are_assigned(row, sample):
    def function(*tensors):
        (x, index), _ = batch.arguments(tensors)
        copy = x.clone()
        copy[index] = copy[index] * 2 + 1
        return (copy,)

    for batch in batches(row, sample):
        if batch.chosen[0]:
            check_in_place(batch, function, True)


WRITES = {
    "copy_": lambda x, y: x.copy_(y),
    "copy_, broadcast": lambda x, y: x.copy_(y[0]),
    "fill_": lambda x, y: x.fill_(y[0, 1]),
    "fill_ with a number": lambda x, y: x.fill_(2.0),
    "zero_": lambda x, y: x.zero_(),
    "+=": lambda x, y: x.__iadd__(y),
    "a view": lambda x, y: x[:, 1].mul_(y[:, 0]),
    "a view taken before": lambda x, y: [x[0], x.mul_(y)][0].add_(y[1]),
}


@pytest.mark.parametrize("in_dims", [(0, 0), (1, 2), (-1, None)])
@pytest.mark.parametrize("name", WRITES)
def test_what_is_written_without_a_row(name, in_dims):
    def function(x, y):
        copy = x.clone()
        WRITES[name](copy, y)
        return (copy,)

    rng = np.random.default_rng(0)
    tensors = [ag.from_numpy(rng.normal(size=(SIZE,) * (2 if d is None else 3))) for d in in_dims]
    same_everywhere(at_once(function, in_dims)(*tensors), loop(function, in_dims)(*tensors))
    slopes = grad(seeded(function), (0, 1))
    same_everywhere(at_once(slopes, in_dims)(*tensors), loop(slopes, in_dims)(*tensors))
