"""Loops of softmax, log_softmax and logsumexp over dense arrays."""

from numpy cimport npy_intp

from autograd_cy._core.plane_loops cimport real

cdef void normalize(const real *x, real *y, npy_intp outer, npy_intp n, npy_intp inner, bint logarithmic) noexcept nogil
cdef void normalize_gradient(const real *g, const real *y, real *out, npy_intp outer, npy_intp n, npy_intp inner,
                             bint logarithmic) noexcept nogil
cdef void log_sum_exp(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil
