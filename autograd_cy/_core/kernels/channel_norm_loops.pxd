"""Loops of batch_norm and group_norm on a dense array of planes, each with a channel and with statistics."""

from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Statistics:             # of float32 or float64, all of one type
    void *means
    void *scales                    # factors of the deviations from the means

cdef void add_moments(int dtype_code, const void *x, const Planes *planes, const void *centers, double *sums) noexcept nogil
cdef void first_means(int dtype_code, const void *x, const Planes *planes, void *centers) noexcept nogil
cdef void add_products(int dtype_code, const void *g, const void *x, const Planes *planes, const void *means,
                       double *sums) noexcept nogil
cdef void normalize_planes(int dtype_code, const void *x, const Planes *planes, const Statistics *by, const void *weight,
                           const void *bias, void *y) noexcept nogil
cdef void plane_gradients(int dtype_code, const void *g, const void *x, const Planes *planes, const Statistics *by,
                          const void *weight, const double *corrections, void *out) noexcept nogil
