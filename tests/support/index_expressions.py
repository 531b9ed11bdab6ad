"""Random index expressions, with what NumPy makes of them."""

import math

import numpy as np
from hypothesis import strategies as st

import autograd_cy as torch

ALL = slice(None)


class Expression:
    """An index written for a tensor, and as two of NumPy's: `basic` makes a view, `picks` index that view.

    The two differ because an int beside an index array counts as one in NumPy, and not in PyTorch.
    """

    def __init__(self):
        self.items, self.basic, self.picks = [], [], []

    def __repr__(self):
        return f"x[{self.items}]"

    def add(self, item, basic=(), picks=()):
        self.items.append(item)
        self.basic.extend(basic)
        self.picks.extend(picks)

    def of(self, array):
        view = np.asarray(array[(*self.basic, ...)])
        return view[tuple(self.picks)] if any(isinstance(p, np.ndarray) for p in self.picks) else view


def add_numbers(draw, expression, size):
    """Integers, of a shape that broadcasts with that of all others, as a tensor, an array or a list."""
    shape = draw(st.sampled_from([(1,), (3,), (2, 1), (2, 3)]))
    count = math.prod(shape)
    numbers = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
    numbers = np.array(numbers, np.int64).reshape(shape)
    kind = draw(st.sampled_from([torch.from_numpy, np.copy, np.ndarray.tolist]))
    expression.add(kind(numbers), [ALL], [numbers])


def add_mask(draw, expression, shape):
    count = math.prod(shape)
    mask = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool).reshape(shape)
    kind = draw(st.sampled_from([torch.from_numpy, np.copy]))
    expression.add(kind(mask), [ALL] * len(shape), [mask])


def add_int(draw, expression, size):
    number = draw(st.integers(-size, size - 1))
    kind = draw(st.sampled_from([int, np.int64, torch.tensor]))
    expression.add(kind(number), [number])


def add_slice(draw, expression, size):
    ends = st.none() | st.integers(-size - 1, size + 1)
    part = slice(draw(ends), draw(ends), draw(st.none() | st.integers(1, 3)))
    expression.add(part, [part], [ALL])


@st.composite
def expressions(draw, shape):
    """An index for tensors of that shape: one mask, or index tensors, among all that makes views."""
    expression, dim, ndim = Expression(), 0, len(shape)
    picker = draw(st.sampled_from(["mask", "numbers", "int"]))
    while dim < ndim:
        kinds = ["slice", "None", "..."] + ["int", picker] * (shape[dim] > 0)
        kind = draw(st.sampled_from(kinds))
        if kind == "None":
            expression.add(None, [None], [ALL])
        elif kind == "...":
            hidden = ndim - dim - draw(st.integers(0, ndim - dim))
            expression.add(..., [ALL] * hidden, [ALL] * hidden)
            for size in shape[dim + hidden :]:
                (add_int if size and draw(st.booleans()) else add_slice)(draw, expression, size)
            break
        elif kind == "mask":
            n = draw(st.integers(1, ndim - dim))
            add_mask(draw, expression, shape[dim : dim + n])
            dim += n
            picker = "int"
        else:
            {"int": add_int, "slice": add_slice, "numbers": add_numbers}[kind](draw, expression, shape[dim])
            dim += 1
    return expression


@st.composite
def cases(draw):
    """(shape, order of the dimensions in memory, Expression)"""
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    return shape, draw(st.permutations(range(len(shape)))), draw(expressions(shape))
