"""Forward-mode Jacobians of every operation, by functions that branch on values: only their tangents are batched."""

import pytest
from op_batches import SIZE, Batch, same
from op_calls import each_sample, seeds_for
from opinfo import DIFFERENTIABLE

import autograd_cy as ag
from autograd_cy.func import grad, jacfwd, jvp

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writ")

SMOOTH = [row for row in DIFFERENTIABLE if not row.fixed]


def one(row):
    return ("float64",) if "float64" in row.dtypes + row.forward else (row.dtypes + row.forward)[:1]


def has_derivative(x):
    return x.is_floating_point() or x.is_complex()


class Line:
    """An operation as a function of SIZE numbers, by which its differentiated arguments move along as many directions."""

    def __init__(self, row, sample, of_arguments=lambda function: function):
        self.batch = Batch(row, sample, lambda k, a: False)
        self.tensors = self.batch.tensors()
        self.places = [k for k, x in enumerate(self.tensors[: self.batch.by_position]) if has_derivative(x)]
        self.starts = [self.tensors[k] for k in self.places]
        self.directions = [[(x * (k + 1)).cos() for x in self.starts] for k in range(SIZE)]
        self.function = of_arguments(self.outputs)

    def outputs(self, *chosen):
        given = list(self.tensors)
        for k, x in zip(self.places, chosen, strict=True):
            given[k] = x * 1 if (x == x.detach()).all() else x * 1.0
        return tuple(y for y in self.batch(*given) if has_derivative(y))

    def __call__(self, numbers):
        moved = list(self.starts)
        for k in range(SIZE):
            moved = [x + (numbers[k] * t).to(x.dtype) for x, t in zip(moved, self.directions[k], strict=True)]
        return self.function(*moved)

    def columns(self):
        """The derivative along each direction by itself, stacked along the last dimension."""
        found = [jvp(self.function, tuple(self.starts), tuple(t))[1] for t in self.directions]
        return [ag.stack(of_output, -1) for of_output in zip(*found, strict=True)]


def assert_columns(line):
    if not line.places:
        return
    expected = line.columns()
    if any(y.is_complex() for y in expected):       # jacfwd() is for real outputs
        real, plain = line.function, line.columns
        line.function = lambda *x: tuple(ag.view_as_real(y.resolve_conj()) if y.is_complex() else y for y in real(*x))
        expected = plain()
    found = jacfwd(line)(ag.zeros(SIZE, dtype=ag.float64))
    same(list(found), expected, str(expected[0].dtype).removeprefix("torch.") if expected else "")


@each_sample(SMOOTH, one)
def test_columns_are_those_of_jvp(row, sample):
    assert_columns(Line(row, sample))


def slopes_of(function):
    """The gradient of the sum of the outputs, each element times a number of its own."""

    def objective(*chosen):
        outputs = function(*chosen)
        seeds = seeds_for([ag.zeros(y.shape, dtype=y.dtype) for y in outputs])
        total = sum((y * ag.from_numpy(seed)).sum() for y, seed in zip(outputs, seeds, strict=True))
        return total.real if total.is_complex() else total

    return lambda *chosen: grad(objective, tuple(range(len(chosen))))(*chosen)


@each_sample(SMOOTH, one)
def test_columns_of_the_gradient_are_those_of_jvp(row, sample):
    """Forward over reverse, as hessian() does it."""
    line = Line(row, sample)
    if line.places and line.function(*line.starts):
        assert_columns(Line(row, sample, slopes_of))
