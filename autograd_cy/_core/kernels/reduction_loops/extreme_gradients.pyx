"""The gradient of a maximum or minimum, shared by equal elements (knows no Tensor).

Two passes over a row, or over all rows of columns: count the elements that equal the result, then write their shares.
"""

import numpy as np

from autograd_cy._core.arrays.buffers cimport dense, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, code_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_share_f32(
        float const *, float const *, float const *, float *, int *, npy_intp, npy_intp, npy_intp, int);
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_share_f64(
        double const *, double const *, double const *, double *, int *, npy_intp, npy_intp, npy_intp, int);
    """

ctypedef fused Real:
    float
    double

cdef enum:
    MOST = 1 << 30          # elements that can be counted


cdef inline bint is_result(Real x, Real y, bint finds_nan) noexcept nogil:
    return (x == y) | (finds_nan & (x != x) & (y != y))


cdef inline Real part_of(Real g, Real y, int count) noexcept nogil:
    """The share of each. The count is 0 if x was overwritten, or if the result is NaN: then the share is NaN."""
    if count == 0:
        return y if y != y else g
    return g * (1 / <Real> count)


cdef inline void share_gradient(const Real *g, const Real *x, const Real *y, Real *out, int *counts, npy_intp outer,
                                npy_intp n, npy_intp inner, bint finds_nan) noexcept nogil:
    """x and out are (outer, n, inner), g and y (outer, inner)."""
    cdef npy_intp i, k
    cdef int count
    cdef Real part
    for _ in range(outer):
        if inner == 1:
            count = 0
            for i in range(n):
                count += is_result(x[i], y[0], finds_nan)
            part = part_of(g[0], y[0], count)
            if count == 0 and y[0] != y[0]:
                for i in range(n):
                    out[i] = part
            else:
                for i in range(n):
                    out[i] = part if is_result(x[i], y[0], finds_nan) else 0
        else:
            for k in range(inner):
                counts[k] = 0
            for i in range(n):
                for k in range(inner):
                    counts[k] += is_result(x[i * inner + k], y[k], finds_nan)
            for i in range(n):
                for k in range(inner):
                    out[i * inner + k] = (part_of(g[k], y[k], counts[k])
                                          if is_result(x[i * inner + k], y[k], finds_nan) or (counts[k] == 0 and y[k] != y[k])
                                          else 0)
        x, out, g, y = x + n * inner, out + n * inner, g + inner, y + inner


cdef void share_f32 "autograd_cy_share_f32"(
        const float *g, const float *x, const float *y, float *out, int *counts, npy_intp outer, npy_intp n,
        npy_intp inner, int finds_nan) noexcept nogil:
    share_gradient(g, x, y, out, counts, outer, n, inner, finds_nan)


cdef void share_f64 "autograd_cy_share_f64"(
        const double *g, const double *x, const double *y, double *out, int *counts, npy_intp outer, npy_intp n,
        npy_intp inner, int finds_nan) noexcept nogil:
    share_gradient(g, x, y, out, counts, outer, n, inner, finds_nan)


cdef cnp.ndarray shared_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray y, Dims dims, bint finds_nan):
    """The gradient of x, where y is x reduced along `dims`; None if these loops can't compute it.

    They take float32 and float64 in C order, and adjacent dimensions. `finds_nan`: NaN equals NaN.
    """
    cdef npy_intp outer = 1, n = 1, inner = 1
    cdef int axis, dtype_code = code_of(x)
    if dtype_code not in (FLOAT32, FLOAT64) or code_of(g) != dtype_code or code_of(y) != dtype_code:
        return None
    if not cnp.PyArray_ISCARRAY_RO(x) or cnp.PyArray_SIZE(x) > MOST or cnp.PyArray_SIZE(x) == 0:
        return None
    for axis in range(cnp.PyArray_NDIM(x)):
        if dims >> axis & 1:
            if inner > 1:
                return None
            n *= cnp.PyArray_DIM(x, axis)
        elif n > 1:
            inner *= cnp.PyArray_DIM(x, axis)
        else:
            outer *= cnp.PyArray_DIM(x, axis)
    if cnp.PyArray_SIZE(g) != outer * inner or cnp.PyArray_SIZE(y) != outer * inner:
        return None
    g, y = dense(g), dense(y)
    cdef cnp.ndarray out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    cdef cnp.ndarray counts = np.empty(inner, np.int32)
    cdef void *p = cnp.PyArray_DATA(g)
    cdef void *q = cnp.PyArray_DATA(x)
    cdef void *r = cnp.PyArray_DATA(y)
    cdef void *s = cnp.PyArray_DATA(out)
    cdef int *t = <int *> cnp.PyArray_DATA(counts)
    with nogil:
        if dtype_code == FLOAT32:
            share_f32(<float *> p, <float *> q, <float *> r, <float *> s, t, outer, n, inner, finds_nan)
        else:
            share_f64(<double *> p, <double *> q, <double *> r, <double *> s, t, outer, n, inner, finds_nan)
    return out
