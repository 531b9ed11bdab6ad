"""The order that the dimensions of arrays have in memory."""

cimport numpy as cnp
from numpy cimport npy_intp

cdef enum:
    MAX_DIMS = 64

cdef bint find_order(int ndim, const npy_intp *sizes, const npy_intp *strides, int n, int *order) noexcept nogil
cdef cnp.ndarray new_array_in_order(int dtype_code, int ndim, const npy_intp *sizes, const int *order)
cdef cnp.ndarray copy_in_order(cnp.ndarray array, int dtype_code)
