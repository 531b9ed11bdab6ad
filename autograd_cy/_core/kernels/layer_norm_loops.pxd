"""Loops of layer_norm over dense arrays, as rows of n elements."""

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef void normalize_layers(const real *x, const real *weight, const real *bias, real *y, real *means, real *scales,
                           npy_intp rows, npy_intp n, double eps) noexcept nogil
cdef void layer_gradient(const real *g, const real *x, const real *weight, const real *means, const real *scales,
                         real *out, npy_intp rows, npy_intp n) noexcept nogil
cdef void layer_weight_gradient(const real *g, const real *x, const real *means, const real *scales, real *out,
                                npy_intp rows, npy_intp n) noexcept nogil
cdef void sums_of_products "autograd_cy_sums_of_products"(
    const real *g, const real *x, npy_intp n, real center, double *sums) noexcept nogil
