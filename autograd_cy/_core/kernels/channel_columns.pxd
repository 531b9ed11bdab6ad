"""Loops of batch_norm on planes of one element: the columns of an array with channels last."""

from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Work:               # a shared loop
    const Planes *planes
    const void *g
    const void *x
    const void *means
    const void *scales
    const void *weight
    const void *bias
    const double *corrections
    double *sums
    void *out

cdef bint are_columns(const Planes *planes) noexcept nogil
cdef npy_intp slices_of(const Planes *planes) noexcept nogil
cdef void sum_columns(int dtype_code, Work *work) noexcept nogil
cdef void normalize_columns(int dtype_code, Work *work) noexcept nogil
cdef void column_gradients(int dtype_code, Work *work) noexcept nogil
