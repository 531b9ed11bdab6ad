"""Rows of the op table: LU decompositions, and systems with them."""

import numpy as np
from op_case import BOOL, HALF, INTS, S
from op_rows_linalg import INT32, regular, row, taking
from scipy.linalg import lu_factor

# references


def factored(a):
    """What SciPy's LAPACK gives, matrix by matrix, with pivots from 1."""
    k = min(a.shape[-2:])
    lu, pivots = np.empty_like(a), np.empty((*a.shape[:-2], k), np.int32)
    for index in np.ndindex(a.shape[:-2]):
        lu[index], pivots[index] = lu_factor(a[index])
    return lu, pivots + 1


def unpacked(lu, pivots, *flags):
    m, n = lu.shape[-2:]
    k = min(m, n)
    p = np.broadcast_to(np.eye(m), (*lu.shape[:-2], m, m)).copy()
    for index in np.ndindex(lu.shape[:-2]):
        for i, other in enumerate(pivots[index] - 1):
            p[index][:, [i, other]] = p[index][:, [other, i]]
    return p, np.tril(lu[..., :k], -1) + np.eye(m, k), np.triu(lu[..., :k, :])


def lu_solve(lu, pivots, b, left=True, adjoint=False):
    p, lower, upper = unpacked(lu, pivots)
    a = p @ lower @ upper
    a = np.swapaxes(a, -2, -1).conj() if adjoint else a
    if left:
        return np.linalg.solve(a, b)
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -2, -1), np.swapaxes(b, -2, -1)), -2, -1)


def with_info(x, **kwargs):
    return *factored(x), np.zeros(x.shape[:-2])


# samples, and what of the results has a gradient


def triangles(plu):
    return plu[1:]


def mixed(make, *sizes):
    """Regular matrices whose rows are in another order, so that pivots are needed."""
    return make.of(np.roll(regular(make, *sizes), 1, -2))


def matrices(make):
    for sizes in ((2, 2), (3, 3), (3, 2), (2, 4), (2, 3, 3), (2, 2, 3), (0, 0), (2, 3, 0)):
        yield S(mixed(make, *sizes))


def pivots(*numbers):
    return np.array(numbers, np.int32)


def decompositions(make):
    yield S(regular(make, 3, 3), pivots(2, 3, 3))
    yield S(regular(make, 3, 2), pivots(3, 2))
    yield S(regular(make, 2, 2, 3), pivots([2, 2], [1, 2]))
    yield S(regular(make, 2, 2), pivots(2, 2), True, False)


def systems(make):
    yield S(regular(make, 3, 3), pivots(2, 3, 3), make(3, 2))
    yield S(regular(make, 3, 3), pivots(2, 3, 3), make(3, 1), adjoint=True)
    yield S(regular(make, 2, 2), pivots(2, 2), make(3, 2), left=False)
    yield S(regular(make, 2, 2), pivots(2, 2), make(1, 2), left=False, adjoint=True)
    yield S(regular(make, 2, 1, 2, 2), pivots([[2, 2]], [[1, 2]]), make(2, 2, 1))


def old_systems(make):
    for sample in systems(make):
        if not sample.kwargs:
            lu, numbers, b = sample.args
            yield S(b, lu, numbers)


LU_ROWS = [
    row("linalg.lu", lambda a: unpacked(*factored(a)), matrices, taking(triangles)),
    row("linalg.lu_factor", factored, matrices, result=("first", INT32)),
    row("linalg.lu_factor_ex", with_info, matrices, result=("first", INT32, INT32)),
    row("lu", factored, matrices, result=("first", INT32), method=True),
    row("lu_unpack", unpacked, decompositions, taking(triangles), forward=BOOL + INTS + HALF),
    row("linalg.lu_solve", lu_solve, systems),
    row("lu_solve", lambda b, lu, numbers: lu_solve(lu, numbers, b), old_systems, method=True),
]
