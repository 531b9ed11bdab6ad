"""Loops of softmax, log_softmax and logsumexp over dense arrays."""

from libc.math cimport log, logf

from autograd_cy._core.kernels.plane_loops cimport real, row_total
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "elementary.h" nogil:
    float exp_f32 "autograd_cy_exp_f32"(float) noexcept
    double exp_f64 "autograd_cy_exp_f64"(double) noexcept

cdef enum:
    WIDTH = 128             # columns that are worked on together

cdef inline npy_intp blocks_of(npy_intp inner) noexcept nogil:
    """Into how many blocks of columns (n, inner) is cut."""
    return (inner + WIDTH - 1) // WIDTH

cdef inline real exponential(real x) noexcept nogil:
    return exp_f32(x) if real is float else exp_f64(x)

cdef inline real logarithm(real x) noexcept nogil:
    return logf(x) if real is float else log(x)

cdef inline real log_of_sum(real rest) noexcept nogil:
    """log(1 + rest): the sum of exp(x - top) has a term of 1 (NOTE [Probabilities near 1])."""
    cdef real total = 1 + rest, lost = (rest - (total - 1)) / total
    return logarithm(total) + (lost if 0 < total < 2 else 0)

cdef inline double rest_of_block(const real *terms, npy_intp n, int *left_out) noexcept nogil:
    """The sum of some exp(x - top), without one that is 1 if the sum would be below 2: `left_out` counts those."""
    cdef double total = row_total(terms, n), rest
    if not 1 <= total < 2:
        return total
    rest = sum_below_one(terms, n)
    left_out[0] += total - rest > 0.5
    return rest

cdef inline double rest_of(const real *terms, npy_intp n) noexcept nogil:
    """The sum of exp(x - top) without a largest term, which is 1."""
    cdef int left_out = 0
    cdef double total = rest_of_block(terms, n, &left_out)
    return total + (left_out - 1)

cdef double sum_below_one "autograd_cy_sum_below_one"(const real *terms, npy_intp n) noexcept nogil
cdef real largest(const real *row, npy_intp n) noexcept nogil
cdef bint normalize(const real *x, real *y, npy_intp outer, npy_intp n, npy_intp inner, bint logarithmic) noexcept nogil
cdef void normalize_gradient(const real *g, const real *y, real *out, npy_intp outer, npy_intp n, npy_intp inner,
                             bint logarithmic, bint peaked) noexcept nogil
cdef void log_sum_exp(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil
