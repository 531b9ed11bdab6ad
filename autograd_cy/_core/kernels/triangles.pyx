"""Systems with triangular matrices: substitution in blocks, what is outside of them by NumPy's products."""

import numpy as np

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

cdef enum:
    BLOCK = 16          # rows that are substituted one by one

ctypedef float complex complex64
ctypedef double complex complex128
ctypedef fused number:
    float
    double
    complex64
    complex128


cdef object solved_triangles(object a, object b, bint upper, bint unit):
    """The X with a @ X = b, of arrays of one type, whose batches are broadcast. Zeros on the diagonal give inf and NaN."""
    n, columns = b.shape[-2:]
    sizes = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, sizes + (n, columns)), order="C")
    matrices = np.ascontiguousarray(np.broadcast_to(a, sizes + (n, n)))
    if x.size:
        with np.errstate(all="ignore"):
            substitute(matrices.reshape(-1, n, n), x.reshape(-1, n, columns), upper, unit)
    return x


cdef int substitute(object a, object x, bint upper, bint unit) except -1:
    """In place; halves of more than BLOCK rows go by way of a product."""
    n = a.shape[1]
    if n <= BLOCK:
        for matrix, rows in zip(a, x):
            one_block(matrix, rows, a.dtype.char, upper, unit)
        return 0
    half = n // 2
    if upper:
        substitute(a[:, half:, half:], x[:, half:], upper, unit)
        x[:, :half] -= a[:, :half, half:] @ x[:, half:]
        return substitute(a[:, :half, :half], x[:, :half], upper, unit)
    substitute(a[:, :half, :half], x[:, :half], upper, unit)
    x[:, half:] -= a[:, half:, :half] @ x[:, :half]
    return substitute(a[:, half:, half:], x[:, half:], upper, unit)


cdef int one_block(object a, object x, str kind, bint upper, bint unit) except -1:
    """Of one matrix, by the loop for its type."""
    if kind == "f":
        block[float](a, x, upper, unit)
    elif kind == "d":
        block[double](a, x, upper, unit)
    elif kind == "F":
        block[complex64](a, x, upper, unit)
    else:
        block[complex128](a, x, upper, unit)
    return 0


cdef void block(const number[:, :] a, number[:, ::1] x, bint upper, bint unit) noexcept nogil:
    """Row after row."""
    cdef Py_ssize_t step, i, j, c, n = a.shape[0], columns = x.shape[1], first, last
    cdef number factor
    for step in range(n):
        i = n - 1 - step if upper else step
        first = i + 1 if upper else 0
        last = n if upper else i
        for j in range(first, last):
            factor = a[i, j]
            for c in range(columns):
                x[i, c] = x[i, c] - factor * x[j, c]
        if not unit:
            factor = a[i, i]
            for c in range(columns):
                x[i, c] = x[i, c] / factor
