"""Euclidean distances between the rows of two matrices (of broadcast batches), by squared differences."""

import numpy as np

from libc.float cimport DBL_EPSILON, DBL_MAX, DBL_MIN, FLT_EPSILON, FLT_MAX, FLT_MIN
from libc.math cimport fabs, ilogb, ldexp, sqrt

from autograd_cy._core.arrays.buffers cimport dense
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_distances( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_pulls( \\
            real const *, real const *, real const *, real const *, real *, npy_intp, npy_intp, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """


cdef tuple batches(object a, object b):
    """Both as C-contiguous arrays with broadcast batch sizes, and these sizes."""
    *own, m, d = a.shape
    *others, n, _ = b.shape
    sizes = np.broadcast_shapes(tuple(own), tuple(others))
    a, b = np.broadcast_to(a, sizes + (m, d)), np.broadcast_to(b, sizes + (n, d))
    return dense(a), dense(b), sizes


cdef object distances(object a, object b):
    """(..., m, n) distances of (..., m, d) and (..., n, d)."""
    cdef cnp.ndarray p, q, y
    cdef npy_intp m, n, d, count
    a, b, sizes = batches(a, b)
    *_, m, d = a.shape
    *_, n, _ = b.shape
    p, q, y = a, dense(np.swapaxes(b, -2, -1)), np.zeros(sizes + (m, n), a.dtype)
    count = cnp.PyArray_SIZE(y) // max(m * n, 1)
    if a.dtype.char == "f":
        differ(<const float *> cnp.PyArray_DATA(p), <const float *> cnp.PyArray_DATA(q), <float *> cnp.PyArray_DATA(y),
               count, m, n, d)
    else:
        differ(<const double *> cnp.PyArray_DATA(p), <const double *> cnp.PyArray_DATA(q), <double *> cnp.PyArray_DATA(y),
               count, m, n, d)
    return y


cdef object pulls(object a, object b, object g, object y):
    """The gradient of a, from the gradient g of the distances y. Distances of 0 contribute 0."""
    cdef cnp.ndarray p, q, w, z, out
    cdef npy_intp m, n, d, count
    a, b, _sizes = batches(a, b)
    *_, m, d = a.shape
    *_, n, _ = b.shape
    p, q, w, z, out = a, b, dense(g), dense(y), np.zeros_like(a)
    count = cnp.PyArray_SIZE(w) // max(m * n, 1)
    if a.dtype.char == "f":
        pull(<const float *> cnp.PyArray_DATA(p), <const float *> cnp.PyArray_DATA(q), <const float *> cnp.PyArray_DATA(w),
             <const float *> cnp.PyArray_DATA(z), <float *> cnp.PyArray_DATA(out), count, m, n, d)
    else:
        pull(<const double *> cnp.PyArray_DATA(p), <const double *> cnp.PyArray_DATA(q), <const double *> cnp.PyArray_DATA(w),
             <const double *> cnp.PyArray_DATA(z), <double *> cnp.PyArray_DATA(out), count, m, n, d)
    return out


cdef double scaled_distance(const real *a, const real *b, npy_intp d, npy_intp stride) noexcept nogil:
    """The distance of two rows (the second strided) whose squares leave the range of the type: differences are divided by a
    power of two."""
    cdef double largest = 0, total = 0, scale, x
    cdef npy_intp k = 0
    while k < d and a[k] - b[k * stride] == 0:          # the same row
        k += 1
    if k == d:
        return 0
    for k in range(d):
        x = fabs(<double> a[k] - <double> b[k * stride])
        largest = max(largest, x)
        total += x
    if total == 0 or total != total or largest > DBL_MAX:
        return total
    scale = ldexp(1.0, ilogb(largest))
    total = 0
    for k in range(d):
        x = (<double> a[k] - <double> b[k * stride]) / scale
        total += x * x
    return sqrt(total) * scale


cdef void differ "autograd_cy_distances"(
        const real *a, const real *turned, real *y, npy_intp count, npy_intp m, npy_intp n, npy_intp d) noexcept nogil:
    """Takes pointers because it is compiled for each instruction set. `turned` is b transposed."""
    cdef npy_intp _matrix, i, j, k
    cdef real x, difference
    cdef real least = sqrt(FLT_MIN / FLT_EPSILON if sizeof(real) == sizeof(float) else DBL_MIN / DBL_EPSILON)
    cdef real most = FLT_MAX if sizeof(real) == sizeof(float) else DBL_MAX
    cdef int lost
    for _matrix in range(count):
        for i in range(m):
            for k in range(d):
                x = a[i * d + k]
                for j in range(n):
                    difference = x - turned[k * n + j]
                    y[i * n + j] = y[i * n + j] + difference * difference
            lost = 0
            for j in range(n):
                y[i * n + j] = <real> sqrt(y[i * n + j])
                lost |= not least <= y[i * n + j] <= most
            for j in range(n if lost else 0):
                if not least <= y[i * n + j] <= most:
                    y[i * n + j] = <real> scaled_distance(a + i * d, turned + j, d, n)
        a += m * d
        turned += d * n
        y += m * n


cdef void pull "autograd_cy_pulls"(
        const real *a, const real *b, const real *g, const real *y, real *out, npy_intp count, npy_intp m, npy_intp n,
        npy_intp d) noexcept nogil:
    cdef npy_intp _matrix, i, j, k
    cdef real x
    for _matrix in range(count):
        for i in range(m):
            for j in range(n):
                if y[i * n + j] == 0:
                    continue
                x = g[i * n + j] / y[i * n + j]
                if g[i * n + j] == 0 or FLT_MIN <= fabs(x) <= FLT_MAX:
                    for k in range(d):
                        out[i * d + k] = out[i * d + k] + x * (a[i * d + k] - b[j * d + k])
                else:               # the quotient may have left the range of the type
                    for k in range(d):
                        out[i * d + k] = out[i * d + k] + g[i * n + j] * ((a[i * d + k] - b[j * d + k]) / y[i * n + j])
        a += m * d
        b += n * d
        g += m * n
        y += m * n
        out += m * d
