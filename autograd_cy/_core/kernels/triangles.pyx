"""Systems with triangular matrices: substitution in blocks, what is outside of them by NumPy's products."""

import numpy as np

from autograd_cy._core.kernels.borrowed cimport run
from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

cdef enum:
    BLOCK = 16          # rows that are substituted one by one


cdef object solved_triangles(object a, object b, bint upper, bint unit):
    """The X with a @ X = b, of arrays of one type, whose batches are broadcast. Zeros on the diagonal give inf and NaN."""
    *own, _, n = a.shape
    *others, _, columns = b.shape
    sizes = np.broadcast_shapes(tuple(own), tuple(others))
    x = np.array(np.broadcast_to(b, sizes + (n, columns)), order="C")
    if x.size:
        matrices = np.broadcast_to(a, sizes + (n, n)).reshape(-1, n, n)
        with np.errstate(all="ignore"):
            substitute(matrices, x.reshape(-1, n, columns), upper, unit)
    return x


cdef int substitute(object a, object x, bint upper, bint unit) except -1:
    """In place, in rows of x without gaps; halves of more than BLOCK rows go by way of a product."""
    n = a.shape[1]
    if n <= BLOCK:
        return one_block(a, x, upper, unit)
    half = n // 2
    if upper:
        substitute(a[:, half:, half:], x[:, half:], upper, unit)
        x[:, :half] -= a[:, :half, half:] @ x[:, half:]
        return substitute(a[:, :half, :half], x[:, :half], upper, unit)
    substitute(a[:, :half, :half], x[:, :half], upper, unit)
    x[:, half:] -= a[:, half:, :half] @ x[:, :half]
    return substitute(a[:, half:, half:], x[:, half:], upper, unit)


cdef int one_block(object a, object x, bint upper, bint unit) except -1:
    """By the loop for the type."""
    kind = a.dtype.char
    if kind == "f":
        block[float](a, x, upper, unit)
    elif kind == "d":
        block[double](a, x, upper, unit)
    elif kind == "F":
        block[complex64](a, x, upper, unit)
    else:
        block[complex128](a, x, upper, unit)
    return 0


cdef void block(const number[:, :, :] a, number[:, :, :] x, bint upper, bint unit) noexcept nogil:
    """Row after row, of each matrix."""
    cdef Py_ssize_t matrix, step, i, j, n = a.shape[1], columns = x.shape[2]
    for matrix in range(a.shape[0]):
        for step in range(n):
            i = n - 1 - step if upper else step
            for j in range(i + 1 if upper else 0, n if upper else i):
                subtract(run(&x[matrix, i, 0], columns), a[matrix, i, j], run(&x[matrix, j, 0], columns))
            if not unit:
                divide(run(&x[matrix, i, 0], columns), a[matrix, i, i])


cdef inline void subtract(number[::1] row, number factor, const number[::1] other) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(row.shape[0]):
        row[c] = row[c] - factor * other[c]


cdef inline void divide(number[::1] row, number factor) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(row.shape[0]):
        row[c] = row[c] / factor
