"""Norms, deviations and distances with squares beyond the range of the type (knows no Tensor).

They are first computed from plain squares, which is fast. If a sum of squares overflowed, or is so small that terms may
have underflowed, it is computed again: the operands are divided by a power of two near the largest one, and the result is
multiplied by it. Neither step rounds.
"""

import numpy as np

from libc.float cimport DBL_EPSILON, DBL_MAX, DBL_MIN, FLT_EPSILON, FLT_MAX, FLT_MIN, LDBL_EPSILON, LDBL_MAX, LDBL_MIN
from libc.math cimport sqrt, sqrtl
from libc.string cimport memcmp

from autograd_cy._core.arrays.buffers cimport dense_copy, is_flat
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT32, LONGDOUBLE, code_of
from autograd_cy._core.kernels.reduction_loops cimport Dims, extended_between, real
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef bint in_range(cnp.ndarray totals) noexcept:
    """Whether no sum of powers overflowed, or is so small that terms may have underflowed."""
    if code_of(totals) == FLOAT32:
        return all_between(<float *> cnp.PyArray_DATA(totals), cnp.PyArray_SIZE(totals), FLT_MIN / FLT_EPSILON, FLT_MAX)
    if code_of(totals) == LONGDOUBLE:
        return extended_between(<long double *> cnp.PyArray_DATA(totals), cnp.PyArray_SIZE(totals), LDBL_MIN / LDBL_EPSILON,
                                LDBL_MAX)
    return all_between(<double *> cnp.PyArray_DATA(totals), cnp.PyArray_SIZE(totals), DBL_MIN / DBL_EPSILON, DBL_MAX)


cdef bint roots_in_range(cnp.ndarray roots) noexcept:
    """in_range() of the squares of nonnegative numbers."""
    if code_of(roots) == FLOAT32:
        return all_between(<float *> cnp.PyArray_DATA(roots), cnp.PyArray_SIZE(roots), sqrt(FLT_MIN / FLT_EPSILON),
                           FLT_MAX)
    if code_of(roots) == LONGDOUBLE:
        return extended_between(<long double *> cnp.PyArray_DATA(roots), cnp.PyArray_SIZE(roots),
                                sqrtl(LDBL_MIN / LDBL_EPSILON), LDBL_MAX)
    return all_between(<double *> cnp.PyArray_DATA(roots), cnp.PyArray_SIZE(roots), sqrt(DBL_MIN / DBL_EPSILON), DBL_MAX)


cdef bint zeros_are_exact(cnp.ndarray results, cnp.ndarray array, Dims dims, bint of_roots) noexcept:
    """Whether all results out of range are exact zeros: norms of zeros or, with `of_roots`, deviations of equal elements.

    False for arrays that are not real, not in C order, or reduced along dimensions that are not adjacent.
    """
    cdef npy_intp outer, n, inner
    if code_of(array) != code_of(results) or code_of(array) == LONGDOUBLE:
        return False
    if not (is_flat(array) and is_flat(results)) or not cnp.PyArray_SIZE(array):
        return False
    if not seen_as_three(array, dims, &outer, &n, &inner):
        return False
    if code_of(results) == FLOAT32:
        return are_of_equals(<float *> cnp.PyArray_DATA(results), <float *> cnp.PyArray_DATA(array), outer, n, inner,
                             FLT_MIN / FLT_EPSILON, FLT_MAX, of_roots)
    return are_of_equals(<double *> cnp.PyArray_DATA(results), <double *> cnp.PyArray_DATA(array), outer, n, inner,
                         DBL_MIN / DBL_EPSILON, DBL_MAX, of_roots)


cdef bint seen_as_three(cnp.ndarray array, Dims dims, npy_intp *outer, npy_intp *n, npy_intp *inner) noexcept:
    """Whether an array reduced along `dims` can be viewed as (outer, n, inner), reduced along n."""
    cdef int axis
    outer[0] = n[0] = inner[0] = 1
    for axis in range(cnp.PyArray_NDIM(array)):
        if dims >> axis & 1:
            if inner[0] != 1:
                return False
            n[0] *= cnp.PyArray_DIM(array, axis)
        elif n[0] == 1:
            outer[0] *= cnp.PyArray_DIM(array, axis)
        else:
            inner[0] *= cnp.PyArray_DIM(array, axis)
    return True


cdef bint are_of_equals(const real *results, const real *x, npy_intp outer, npy_intp n, npy_intp inner, double least,
                        double most, bint of_roots) noexcept nogil:
    """zeros_are_exact() of a dense array."""
    cdef npy_intp _block, i, first, end
    if of_roots:
        least = sqrt(least)
    for _block in range(outer):
        first = end = 0
        for i in range(inner):
            if not least <= results[i] <= most:
                if results[i] != 0 or not (of_roots or x[i] == 0):
                    return False
                first = first if end else i
                end = i + 1
        if end > first and not columns_are_equal(results + first, x + first, n, inner, end - first):
            return False
        results += inner
        x += n * inner
    return True


cdef bint columns_are_equal(const real *results, const real *x, npy_intp n, npy_intp stride, npy_intp width) noexcept nogil:
    """Whether each column with result 0 has n equal elements."""
    cdef int others = 0
    cdef npy_intp i, k
    if stride == 1:
        return memcmp(x, x + 1, (n - 1) * sizeof(real)) == 0
    for k in range(1, n):
        for i in range(width):
            others |= (results[i] == 0) & (x[k * stride + i] != x[i])
    return others == 0


cdef bint fourth_powers_fit(cnp.ndarray totals) noexcept:
    """Whether products of four of the numbers or their inverses, as in derivatives, stay in range."""
    if code_of(totals) == FLOAT32:
        return all_between(<float *> cnp.PyArray_DATA(totals), cnp.PyArray_SIZE(totals), sqrt(sqrt(FLT_MIN)),
                           sqrt(sqrt(FLT_MAX)))
    if code_of(totals) == LONGDOUBLE:
        return extended_between(<long double *> cnp.PyArray_DATA(totals), cnp.PyArray_SIZE(totals), sqrtl(sqrtl(LDBL_MIN)),
                                sqrtl(sqrtl(LDBL_MAX)))
    return all_between(<double *> cnp.PyArray_DATA(totals), cnp.PyArray_SIZE(totals), sqrt(sqrt(DBL_MIN)), sqrt(sqrt(DBL_MAX)))


cdef bint values_fit(cnp.ndarray array) except -1:
    """fourth_powers_fit() for any layout; True for types other than float32, float64 and longdouble."""
    cdef int dtype_code = code_of(array)
    return not FLOAT32 <= dtype_code < COMPLEX64 or fourth_powers_fit(array if is_flat(array) else dense_copy(array))


cdef bint all_between(const real *x, npy_intp n, real least, real most) noexcept nogil:
    cdef int others = 0
    cdef npy_intp i
    for i in range(n):
        others |= not least <= x[i] <= most
    return others == 0


cdef bint quotients_fit(cnp.ndarray quotients, cnp.ndarray g, cnp.ndarray y):
    """Whether all quotients g / y are normal numbers, or g or y is 0."""
    cdef cnp.ndarray gradient = g if is_flat(g) else dense_copy(g), roots = y if is_flat(y) else dense_copy(y)
    if code_of(g) == FLOAT32:
        return are_normal(<float *> cnp.PyArray_DATA(quotients), <float *> cnp.PyArray_DATA(gradient),
                          <float *> cnp.PyArray_DATA(roots), cnp.PyArray_SIZE(g), FLT_MIN, FLT_MAX)
    return are_normal(<double *> cnp.PyArray_DATA(quotients), <double *> cnp.PyArray_DATA(gradient),
                      <double *> cnp.PyArray_DATA(roots), cnp.PyArray_SIZE(g), DBL_MIN, DBL_MAX)


cdef bint are_normal(const real *quotients, const real *g, const real *y, npy_intp n, real least, real most) noexcept:
    cdef int others = 0
    cdef npy_intp i
    for i in range(n):
        others |= (not least <= (quotients[i] if quotients[i] > 0 else -quotients[i]) <= most) & (g[i] != 0) & (y[i] != 0)
    return others == 0


cdef object scales_of(object ends):
    """The powers of two near nonnegative numbers; 1 for 0, infinity and nan."""
    ends = np.where((ends > 0) & np.isfinite(ends), ends, 1)
    return np.ldexp(np.ones_like(ends), np.frexp(ends)[1] - 1)
