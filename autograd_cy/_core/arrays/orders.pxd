"""The order of arrays' dimensions in memory."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    MAX_DIMS = 64

cdef bint find_order(int ndim, const npy_intp *sizes, const npy_intp *strides, int n, int *order) noexcept nogil
cdef cnp.ndarray new_array_in_order(int dtype_code, int ndim, const npy_intp *sizes, const int *order)
cdef cnp.ndarray copy_in_order(cnp.ndarray array, int dtype_code)
