"""Sample generators of the op table: shapes, indices, linear algebra and losses.

Each yields `S(...)` as one writes the call. Keep them tiny: gradcheck's cost grows with inputs times outputs.
"""

import numpy as np
from op_case import S

from autograd_cy._core.arrays.dtypes import kind_of

# Shapes


def reshapes(make):
    yield S(make(2, 3), (3, 2))
    yield S(make(2, 3), (-1,))
    yield S(make(), (1, 1))
    yield S(make(1), ())
    yield S(make(0, 3), (3, 0))


def views(make):
    yield from reshapes(make)
    yield S(make(2, 3), 3, -1)


def flattens(make):
    yield S(make(2, 3))
    yield S(make(2, 1, 3), start_dim=1)
    yield S(make(2, 3, 1), 0, -2)
    yield S(make())
    yield S(make(0, 2))


def squeezes(make):
    yield S(make(1, 2, 1))
    yield S(make(1, 2, 1), dim=-1)
    yield S(make(1, 2, 1), 1)
    yield S(make(1, 2, 1), dim=(0, 1))
    yield S(make())
    yield S(make(1, 0))


def unsqueezes(make):
    yield S(make(2, 3), 0)
    yield S(make(2, 3), dim=-1)
    yield S(make(2, 3), -2)
    yield S(make(), 0)
    yield S(make(0), 1)


def transposes(make):
    yield S(make(2, 3), 0, 1)
    yield S(make(2, 1, 3), -1, 0)
    yield S(make(2, 3), 1, 1)
    yield S(make(), 0, -1)
    yield S(make(0, 2), 0, 1)


def permutes(make):
    yield S(make(2, 1, 3), (2, 0, 1))
    yield S(make(2, 3), (-1, 0))
    yield S(make(), ())
    yield S(make(0, 2), (1, 0))


def up_to_2d(make):
    yield S(make(2, 3))
    yield S(make(3))
    yield S(make())
    yield S(make(0, 2))


def expands(make):
    yield S(make(2, 1), 2, 3)
    yield S(make(1, 3), 2, -1, 3)
    yield S(make(3), 2, 3)
    yield S(make(), 2)
    yield S(make(2, 1), 2, 0)
    yield S(make(2), 2)


def cats(make):
    yield S([make(2, 3), make(1, 3)])
    yield S([make(2, 1), make(2, 2), make(2, 0)], dim=-1)
    yield S([make(3)], dim=0)
    yield S([make(0, 2), make(0, 2)])


def stacks(make):
    yield S([make(3), make(3)])
    yield S([make(2, 3), make(2, 3)], dim=-1)
    yield S([make(2, 1), make(2, 1), make(2, 1)], dim=1)
    yield S([make(), make()])
    yield S([make(0)], dim=0)


def splits(make):
    yield S(make(5, 2), 2)
    yield S(make(2, 4), 2, dim=1)
    yield S(make(2, 3), [1, 0, 2], dim=-1)
    yield S(make(4), 4)


def unbinds(make):
    yield S(make(2, 3))
    yield S(make(2, 3), dim=-1)
    yield S(make(2, 0))


def flips(make):
    yield S(make(2, 3), (0,))
    yield S(make(2, 3), (-1, 0))
    yield S(make(2, 3), ())
    yield S(make(0, 2), (0,))


def pairs(make):
    """Real and imaginary parts along the last dimension."""
    yield S(make(3, 2))
    yield S(make(2))


def nonempty(make):
    yield S(make(2, 3))
    yield S(make())


def diagonals(make):
    yield S(make(3, 3))
    yield S(make(2, 3), offset=1)
    yield S(make(3, 2), -1)
    yield S(make(2, 2, 3), offset=0, dim1=-1, dim2=0)
    yield S(make(2, 2), offset=2)


# Indices


def getitems(make):
    yield S(make(3, 2), 0)
    yield S(make(3, 2), -1)
    yield S(make(3), 1)
    yield S(make(4, 2), slice(1, None))
    yield S(make(4, 2), (slice(None, None, 2), 1))
    yield S(make(2, 3), (..., slice(-2, None)))
    yield S(make(2), (None, slice(None), None))
    yield S(make(3), slice(2, 1))
    yield S(make(), ...)
    yield S(make(3, 2), np.array([2, 0, 2, -1]))  # duplicates accumulate
    yield S(make(3, 2), [0, 2])
    yield S(make(2, 3), (slice(None), np.array([[0, 0], [2, 1]])))
    yield S(make(2, 3), (np.array([0, 1, 1]), np.array([2, 0, 0])))
    yield S(make(2, 2, 2), (np.array([0, 1]), slice(None), np.array([1, 1])))  # apart: to the front
    yield S(make(2, 3), (np.array([[0], [1]]), np.array([0, 2])))
    yield S(make(3), np.array([], np.int64))
    yield S(make(2, 2), np.array([[True, False], [True, True]]))
    yield S(make(3, 2), np.array([True, False, True]))
    yield S(make(2, 3), (slice(None), np.array([False, True, True])))
    yield S(make(2, 3), (1, np.array([0, 0])))
    yield S(make(3), np.array([False, False, False]))
    yield S(make(0, 2), np.zeros((0,), np.int64))


def index_selects(make):
    yield S(make(3, 2), 0, np.array([2, 0, 2]))
    yield S(make(2, 3), -1, np.array([1]))
    yield S(make(2, 3), 1, np.array([], np.int64))
    yield S(make(3), 0, np.array([0, 0, 0, 1]))


def gathers(make):
    yield S(make(3, 2), 0, np.array([[0, 0], [2, 0], [0, 1]]))
    yield S(make(2, 3), -1, np.array([[0, 0, 0, 2]]))
    yield S(make(3), 0, np.array([1, 1]))
    yield S(make(2, 2), 1, np.zeros((2, 0), np.int64))
    yield S(make(), 0, np.array(0))


def masked_fills(make):
    mask = np.array([[True, False, True], [False, False, True]])
    yield S(make(2, 3), mask, 2)
    yield S(make(2, 3), mask, make())
    yield S(make(2, 3), mask[0], 0)
    yield S(make(3), mask, make())
    yield S(make(), np.array(True), 1)
    yield S(make(0, 3), mask[0], 1)


def index_puts(make):
    yield S(make(3, 2), (np.array([2, 0]),), make(2, 2))
    yield S(make(3, 2), (np.array([2, 0]),), make(2))
    yield S(make(2, 3), (np.array([0, 1]), np.array([2, -1])), make(2))
    yield S(make(2, 3), (np.array([[True, False, True], [False, False, True]]),), make())
    yield S(make(3, 2), (np.array([True, False, True]),), make())
    yield S(make(3), (np.array([1, 1, 0]),), make(3), True)
    yield S(make(3, 2), (np.array([[0, 2], [0, 1]]),), make(2, 1, 2), accumulate=True)
    yield S(make(3), (np.array([], np.int64),), make(0))


def index_adds(make):
    yield S(make(3, 2), 0, np.array([2, 0, 2]), make(3, 2))
    yield S(make(2, 3), -1, np.array([1]), make(2, 1))
    yield S(make(2, 3), 1, np.array([], np.int64), make(2, 0))
    yield S(make(3), 0, np.array([0, 0, 1]), make(3), alpha=2)
    yield S(make(), 0, np.array([0]), make())


def scatters(make):
    yield S(make(3, 2), 0, np.array([[0, 1], [2, 0]]), make(2, 2))
    yield S(make(2, 3), -1, np.array([[2, 0], [1, 2]]), make(2, 2))
    yield S(make(3), 0, np.array([1]), make(1))
    yield S(make(2, 2), 1, np.zeros((2, 0), np.int64), make(2, 0))
    yield S(make(), 0, np.array(0), make())


def scatters_of_numbers(make):
    yield from scatters(make)
    yield S(make(2, 3), 1, np.array([[2, 0]]), 2)


def scatter_adds(make):
    yield from scatters(make)
    yield S(make(3, 2), 0, np.array([[0, 1], [0, 1], [2, 1]]), make(3, 2))


# Linear algebra and losses


def matmuls(make):
    yield S(make(3), make(3))
    yield S(make(2, 3), make(3))
    yield S(make(2), make(2, 3))
    yield S(make(2, 3), make(3, 2))
    yield S(make(2, 1, 2), make(2))
    yield S(make(2), make(2, 2, 1))
    yield S(make(2, 1, 2), make(2, 2))
    yield S(make(1, 2), make(2, 2, 2))
    yield S(make(2, 1, 2), make(2, 2, 1))
    yield S(make(2, 1, 1, 2), make(2, 2, 1))  # batches broadcast
    yield S(make(2, 0), make(0, 2))
    yield S(make(0, 2), make(2, 1))


def mms(make):
    yield S(make(2, 3), make(3, 2))
    yield S(make(1, 1), make(1, 2))
    yield S(make(2, 0), make(0, 3))


def bmms(make):
    yield S(make(2, 1, 3), make(2, 3, 2))
    yield S(make(0, 2, 1), make(0, 1, 2))
    yield S(make(1, 2, 0), make(1, 0, 1))


def mvs(make):
    yield S(make(2, 3), make(3))
    yield S(make(2, 0), make(0))


def dots(make):
    yield S(make(3), make(3))
    yield S(make(0), make(0))


def addmms(make):
    yield S(make(2, 2), make(2, 3), make(3, 2))
    yield S(make(2), make(1, 3), make(3, 2))
    yield S(make(), make(2, 1), make(1, 2), beta=2, alpha=3)
    yield S(make(2, 1), make(2, 2), make(2, 1), beta=0)


def einsums(make):
    yield S("ij,jk->ik", make(2, 3), make(3, 2))
    yield S("i,i", make(3), make(3))
    yield S("i,j->ij", make(2), make(3))
    yield S("bij,bjk->bik", make(2, 1, 2), make(2, 2, 1))
    yield S("ij->ji", make(2, 3))
    yield S("ii->i", make(2, 2))
    yield S("...i,...i->...", make(2, 2), make(2))
    yield S("i,ij,j->", make(2), make(2, 2), make(2))
    yield S("ij,kj->ik", make(2, 2), make(1, 2))
    yield S("i->i", make(0))
    if kind_of(make.dtype) not in "ui":  # PyTorch sums integers in int64
        yield S("ij->", make(2, 3))
        yield S("ii", make(2, 2))


def linears(make):
    yield S(make(2, 3), make(2, 3), make(2))
    yield S(make(2, 3), make(1, 3))
    yield S(make(3), make(2, 3), make(2))
    yield S(make(2, 1, 2), make(2, 2), make(2))
    yield S(make(0, 2), make(1, 2), make(1))


def nll_losses(make):
    yield S(make(2, 3), np.array([2, 0]))
    yield S(make(2, 3), np.array([1, 1]), reduction="sum")
    yield S(make(2, 3), np.array([1, 1]), reduction="none", weight=make(3, domain=((0.2, 1),)))
    yield S(make(3, 2), np.array([1, 0, 1]), weight=make(2, domain=((0.2, 1),)))
    yield S(make(3, 2), np.array([1, -100, 0]))
    yield S(make(3, 2), np.array([1, 0, 1]), ignore_index=0)
    yield S(make(3), np.array(1))
    yield S(make(2, 2, 2), np.array([[1, 0], [0, 0]]))
    yield S(make(1, 2, 1, 2, 1), np.array([[[[1], [0]]]]), reduction="none")


def cross_entropies(make):
    yield from nll_losses(make)
    weight = make(3, domain=((0.2, 1),))
    yield S(make(2, 3), np.array([2, -100]), label_smoothing=0.1, weight=weight)
    yield S(make(2, 3), make(2, 3))
    yield S(make(2, 3), make(2, 3), weight=weight, label_smoothing=0.2, reduction="sum")
    yield S(make(2), make(2))
    yield S(make(1, 2, 2), make(1, 2, 2), reduction="none")


def loss_extremes(make):
    yield S(make.of([[1e4, 0.0, -1e4], [1e4, 1e4, 0.0]]), np.array([0, 2]), reduction="none")


def mse_losses(make):
    yield S(make(2, 3), make(2, 3))
    yield S(make(3), make(3), reduction="sum")
    yield S(make(2, 2), make(2, 2), reduction="none")
    yield S(make(), make())
