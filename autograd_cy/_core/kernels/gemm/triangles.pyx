"""Triangular linear systems: substitution in diagonal blocks, the rest by NumPy's products."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport dense
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_substitute( \\
            real const *, real *, npy_intp, npy_intp, npy_intp, int, int);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    BLOCK = 16          # rows substituted one by one


cdef object solved_triangles(object a, object b, bint upper, bint unit):
    """Solve a @ X = b for arrays of one type; batches are broadcast. Zeros on the diagonal give inf and NaN."""
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
    """Solve in place; more than BLOCK rows are divided into halves and a product."""
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
    """Call the loop for the type on contiguous blocks."""
    cdef cnp.ndarray matrices = dense(a), rows = dense(x)
    cdef npy_intp count, n, columns
    cdef void *p = cnp.PyArray_DATA(matrices)
    cdef void *q = cnp.PyArray_DATA(rows)
    count, n, columns = x.shape
    kind = a.dtype.char
    if kind == "f":
        blocks(<const float *> p, <float *> q, count, n, columns, upper, unit)
    elif kind == "d":
        blocks(<const double *> p, <double *> q, count, n, columns, upper, unit)
    elif kind == "F":
        blocks(<const complex64 *> p, <complex64 *> q, count, n, columns, upper, unit)
    else:
        blocks(<const complex128 *> p, <complex128 *> q, count, n, columns, upper, unit)
    if rows is not x:
        x[...] = rows
    return 0


cdef void blocks "autograd_cy_substitute"(
        const number *a, number *x, npy_intp count, npy_intp n, npy_intp columns, int upper, int unit) noexcept nogil:
    """Row after row of each matrix. Takes pointers because it is compiled for each instruction set: twice as fast."""
    cdef npy_intp _matrix, step, i, j, c
    cdef number factor
    for _matrix in range(count):
        for step in range(n):
            i = n - 1 - step if upper else step
            for j in range(i + 1 if upper else 0, n if upper else i):
                factor = a[i * n + j]
                for c in range(columns):
                    x[i * columns + c] = x[i * columns + c] - factor * x[j * columns + c]
            if not unit:
                factor = a[i * n + i]
                for c in range(columns):
                    x[i * columns + c] = x[i * columns + c] / factor
        a += n * n
        x += n * columns
