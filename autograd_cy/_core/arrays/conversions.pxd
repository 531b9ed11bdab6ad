"""Python numbers as arrays of one type."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray converted(object number, int dtype_code)
cdef cnp.ndarray fitting(object number, int dtype_code)
cdef cnp.ndarray assigned(object number, int dtype_code)
cdef int check_depth(int depth) except -1
cdef object number_behind(cnp.ndarray array)
