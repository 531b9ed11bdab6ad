"""Sample generators of the op table: elementwise ops and reductions.

Each yields `S(...)` as one writes the call. Keep them tiny: gradcheck's cost grows with inputs times outputs.
"""

import math

import numpy as np
from op_case import S

from autograd_cy._core.arrays.dtypes import kind_of

# Elementwise


def calls(*cases):
    """The samples of a row that needs no more than shapes: each case is the arguments, a list among them a tensor's shape."""

    def generate(make):
        for case in cases:
            yield S(*[make(*a) if isinstance(a, list) else a for a in case])

    return generate


def unary(make):
    yield S(make(2, 3))
    yield S(make())
    yield S(make(0, 3))


def finite_extremes(make):
    top = np.finfo(make.dtype).max / 4
    yield S(make.of([0.0, -0.0, 1.0, -1.0, 100.0, -100.0, 1e4, -1e4, 1e-20, top, -top]))


def unary_extremes(make):
    yield from finite_extremes(make)
    yield S(make.of([math.inf, -math.inf, math.nan]))


def classified(make):
    yield S(make.of([[0.0, -1.0, math.nan], [math.inf, -math.inf, 2.0]]))
    yield from unary(make)


def broadcast(make):
    """Pairs of tensors whose shapes broadcast in each way."""
    yield S(make(2, 3), make(2, 3))
    yield S(make(2, 3), make(3))
    yield S(make(2, 1), make(1, 3))
    yield S(make(), make(2, 2))
    yield S(make(3), make())
    yield S(make(), make())
    yield S(make(0, 3), make(3))
    yield S(make(1), make(0))


def numbers(make):
    """A Python number on either side."""
    yield S(make(3), 2)
    yield S(make(2), 1.5)
    yield S(2, make(3))
    yield S(1.5, make())


def binary(make):
    yield from broadcast(make)
    yield from numbers(make)


def binary_alpha(make):
    yield from binary(make)
    yield S(make(2, 2), make(2), alpha=2)
    if kind_of(make.dtype) in "fc":
        yield S(make(2, 1), make(2), alpha=-0.5)
        yield S(make(2), 3, alpha=1.5)


def divisions(make):
    """All but a number divided by a tensor."""
    yield from broadcast(make)
    yield S(make(3), 2)
    if kind_of(make.dtype) == "f":
        yield S(make(2), -1.5)


def quotients(make):
    yield from binary(make)
    if kind_of(make.dtype) == "f":      # of integers they are integers
        yield S(make(2, 3), make(3), rounding_mode="floor")
        yield S(make(2, 1), make(3), rounding_mode="trunc")
        yield S(make(3), -1.5, rounding_mode="floor")


def binary_extremes(make):
    values = make.of([0.0, -0.0, 1.0, -2.0, 3.5, math.inf, -math.inf, math.nan])
    yield S(values[:, None], values)


def powers(make):
    yield from broadcast(make)
    yield from numbers(make)
    yield S(make(2, 3), 3)
    yield S(make(3), 0)
    yield S(make(3), 1)
    yield S(1, make(2))


def comparable(make):
    """Pairs with ties."""
    yield S(make.of([1.0, 2.0, 3.0]), make.of([3.0, 2.0, 1.0]))
    yield S(make.of([1.0, 2.0, 3.0]), 2)
    yield S(2, make.of([1.0, 2.0, 3.0]))
    yield from broadcast(make)


def shifts(make):
    yield S(make.of([1, 2, 3]), make.of([3, 2, 1]))
    yield S(make.of([[1, 2, 40]]), make.of([[0], [1]]))
    yield S(make.of([1, 2, 3]), 2)
    yield S(2, make.of([1, 2, 3]))


def logical(make):
    yield S(make.of([0, 0, 1, 2]), make.of([0, 1, 0, 3]))
    yield from broadcast(make)


def clamp(make):
    yield S(make(2, 3), make(3), make(2, 1))
    yield S(make(2, 3), -1, 1)
    yield S(make(5), -0.5)
    yield S(make(5), None, 1.5)
    yield S(make(5), 2, 1)  # the upper bound wins
    yield S(make(), make())
    yield S(make(2, 0), -1, 1)


def where(make):
    yield S(np.array([[True, False, True], [False, False, True]]), make(2, 3), make(2, 3))
    yield S(np.array([True, False]), make(3, 1), make())
    yield S(np.array(True), make(2), make(2))
    yield S(np.array([True, False]), make(2), 2)
    yield S(np.array([True, False]), 1.5, make(2))
    yield S(np.zeros((0, 2), bool), make(2), make(1))


def gelu(make):
    yield from unary(make)
    yield S(make(4), approximate="tanh")


# Reductions


def reduce_one(make):
    """`dim` is one dimension or none."""
    yield S(make(2, 3))
    yield S(make(2, 3), dim=0)
    yield S(make(2, 3), dim=-1, keepdim=True)
    yield S(make(2, 2, 2), dim=1)
    yield S(make())
    yield S(make(), dim=0)
    yield S(make(0, 3), dim=1)


def reduce_many(make):
    yield from reduce_one(make)
    yield S(make(2, 2, 2), dim=(0, -1))
    yield S(make(2, 1, 3), dim=(-3, 1), keepdim=True)


def reduce_empty(make):
    """Reductions of nothing."""
    yield S(make(0))
    yield S(make(0, 3), dim=0)
    yield S(make(2, 0), dim=1, keepdim=True)


def sums(make):
    yield from reduce_many(make)
    yield from reduce_empty(make)
    yield S(make(2, 2), dim=0, dtype=make.wide)


def truths(make):
    yield S(make.of([[0, 1, 2], [0, 0, 0]]), dim=1)
    yield S(make.of([[0, 1, 2], [0, 0, 0]]))
    yield from reduce_many(make)
    yield from reduce_empty(make)


def prods(make):
    yield from reduce_one(make)
    yield from reduce_empty(make)
    yield S(make.of([2.0, 0.0, 3.0]))  # one zero: only its own derivative is not zero
    yield S(make.of([[2.0, 0.0, 0.0], [0.0, 1.0, 3.0]]), dim=1)
    yield S(make(3), dtype=make.wide)


def extremum(make):
    yield from reduce_one(make)
    yield S(make(2, 3), make(3))


def variances(make):
    """Of more than one value: PyTorch warns of the others, and the square root of zero has no derivative."""
    yield from (s for s in reduce_many(make) if s.args[0].size > 1)
    yield S(make(4), correction=0)
    yield S(make(2, 3), dim=1, correction=2, keepdim=True)
    yield S(make(3), unbiased=False)
    yield S(make(2, 3), dim=0, unbiased=True)


def norms(make):
    yield from reduce_many(make)
    for p in (1, 2, 3, 0.5, -1, math.inf, -math.inf):
        yield S(make(2, 3), p=p, dim=1)
    yield S(make(3), p=math.inf)
    yield S(make(2, 2), p=1, dim=(0, 1), keepdim=True)
    yield S(make(0))


def norm_extremes(make):
    yield S(make.of([0.0, 1.0, 0.0, -2.0]), p=0)  # a count: PyTorch gives it no gradient at all
    yield S(make.of([0.0, 0.0]))
    yield S(make.of([[3.0, math.inf], [math.nan, 1.0]]), dim=1)


def along_dim(make):
    """`dim` must be given."""
    yield S(make(2, 3), dim=0)
    yield S(make(2, 3), dim=-1)
    yield S(make(2, 2, 2), dim=1)
    yield S(make(), dim=0)
    yield S(make(0, 3), dim=1)


def along_dim_dtype(make):
    yield from along_dim(make)
    yield S(make(3), dim=0, dtype=make.wide)


def logsumexps(make):
    yield from along_dim(make)
    yield S(make(2, 3), dim=1, keepdim=True)
    yield S(make(2, 2, 2), dim=(0, 2))
    yield S(make(2, 0), dim=1)
    yield S(make(2, 3), dim=())  # all; under vmap it was the batch, too, and crashed


def along_dim_extremes(make):
    yield S(make.of([[1e4, 0.0, -1e4], [1e4, 1e4, 0.0], [-1e4, -1e4, -1e4]]), dim=1)
    yield S(make.of([[-math.inf, 0.0], [1.0, math.nan]]), dim=1)
    yield S(make.of([-math.inf, -math.inf]), dim=0)


def layer_norms(make):
    yield S(make(2, 3), (3,))
    yield S(make(2, 3), (3,), make(3), make(3))
    yield S(make(2, 2, 2), (2, 2), make(2, 2))
    yield S(make(2, 2), [2], bias=make(2))
    yield S(make(4), (4,), make(4), make(4), eps=0.1)
    yield S(make(0, 3), (3,), make(3), make(3))


def layer_norm_extremes(make):
    """Deviations that are small beside the mean, or large, or none."""
    yield S(make.of([[4096.0, 4097.0, 4101.0], [1e4, -1e4, 0.0], [2.0, 2.0, 2.0]]), (3,))
