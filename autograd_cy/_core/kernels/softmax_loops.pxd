"""Loops of softmax, log_softmax and logsumexp over dense arrays."""

from libc.math cimport log, logf

from autograd_cy._core.kernels.plane_loops cimport real
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

cdef real largest(const real *row, npy_intp n) noexcept nogil
cdef void normalize(const real *x, real *y, npy_intp outer, npy_intp n, npy_intp inner, bint logarithmic) noexcept nogil
cdef void normalize_gradient(const real *g, const real *y, real *out, npy_intp outer, npy_intp n, npy_intp inner,
                             bint logarithmic) noexcept nogil
cdef void log_sum_exp(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil
