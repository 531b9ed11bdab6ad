"""Loops of the gradients of softmax and log_softmax over dense arrays."""

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef void normalize_gradient(const real *g, const real *y, real *out, npy_intp outer, npy_intp n, npy_intp inner,
                             bint logarithmic, bint peaked) noexcept nogil
