"""Means and scales, corrections of gradients and gradients of parameters, from the sums over planes."""

from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef npy_intp room_of(const Planes *planes) noexcept nogil
cdef void finish_moments(int dtype_code, const void *x, double *sums, const Planes *planes, npy_intp n, double eps,
                         void *means, void *scales, double *variances) noexcept nogil
cdef void find_scales(int dtype_code, const void *variances, npy_intp n, double eps, void *scales) noexcept nogil
cdef void find_corrections(int dtype_code, const double *sums, const Planes *planes, npy_intp n, const void *scales,
                           const void *weight, double *corrections) noexcept nogil
cdef void parameter_gradient(int dtype_code, const double *sums, const Planes *planes, const void *scales,
                             void *out) noexcept nogil
cdef void move_averages(int dtype_code, const void *before, const double *now, npy_intp n, double momentum,
                        void *out) noexcept nogil
