"""Systems with triangular matrices: substitution in blocks, what is outside of them by NumPy's products."""

import numpy as np

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

cdef enum:
    BLOCK = 32          # rows that are substituted one by one

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
    half = n // 2
    if upper:
        substitute(a[:, half:, half:], x[:, half:], upper, unit)
        x[:, :half] -= a[:, :half, half:] @ x[:, half:]
        return substitute(a[:, :half, :half], x[:, :half], upper, unit)
    substitute(a[:, :half, :half], x[:, :half], upper, unit)
    x[:, half:] -= a[:, half:, :half] @ x[:, :half]
    return substitute(a[:, half:, half:], x[:, half:], upper, unit)


cdef int block(const number[:, :, :] a, number[:, :, :] x, bint upper, bint unit) except -1:
    """Row after row, of all matrices."""
    cdef Py_ssize_t k, step, i, j, c, n = a.shape[1], columns = x.shape[2], first, last
    cdef number factor
    for k in range(a.shape[0]):
        for step in range(n):
            i = n - 1 - step if upper else step
            first = i + 1 if upper else 0
            last = n if upper else i
            for j in range(first, last):
                factor = a[k, i, j]
                for c in range(columns):
                    x[k, i, c] = x[k, i, c] - factor * x[k, j, c]
            if not unit:
                factor = a[k, i, i]
                for c in range(columns):
                    x[k, i, c] = x[k, i, c] / factor
    return 0
