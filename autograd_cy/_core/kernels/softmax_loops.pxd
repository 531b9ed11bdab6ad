"""Loops of softmax and log_softmax."""

from libc.math cimport log, logf

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in softmax_loops.pyx

cdef extern from "elementary.h" nogil:
    float exp_f32 "autograd_cy_exp_f32"(float) noexcept
    double exp_f64 "autograd_cy_exp_f64"(double) noexcept

cdef enum:
    WIDTH = 128             # columns processed together

cdef struct Arrays:         # of a shared loop, in the order of its parameters
    const void *first
    const void *second
    void *out
    npy_intp n, inner
    bint logarithmic
    bint peaked             # whether a probability is above 1/2: set by the forward, read by the gradient

cdef inline npy_intp blocks_of(npy_intp inner) noexcept nogil:
    """The number of blocks of columns in (n, inner)."""
    return (inner + WIDTH - 1) // WIDTH

cdef inline npy_intp block_at(npy_intp number, npy_intp n, npy_intp inner, npy_intp *width) noexcept nogil:
    """The start of a block, and its width."""
    cdef npy_intp blocks = blocks_of(inner)
    cdef npy_intp start = number % blocks * WIDTH
    width[0] = min(inner - start, <npy_intp> WIDTH)
    return number // blocks * n * inner + start

cdef inline real exponential(real x) noexcept nogil:
    return exp_f32(x) if real is float else exp_f64(x)

cdef inline real logarithm(real x) noexcept nogil:
    return logf(x) if real is float else log(x)

cdef void logs_of_sums "autograd_cy_logs_of_sums"(const real *rests, real *logs, npy_intp n) noexcept nogil
cdef void rests_of_rows "autograd_cy_rests_of_rows"(
    const real *x, real *tops, real *rests, npy_intp rows, npy_intp n, bint finite) noexcept nogil
cdef bint normalize(const real *x, real *y, npy_intp outer, npy_intp n, npy_intp inner, bint logarithmic) noexcept nogil
cdef void log_sum_exp(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil

# in softmax_gradients.pyx
cdef void normalize_gradient(const real *g, const real *y, real *out, npy_intp outer, npy_intp n, npy_intp inner,
                             bint logarithmic, bint peaked) noexcept nogil
