"""Copies by several threads."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray copied(cnp.ndarray array)
cdef cnp.ndarray reversed_rows(cnp.ndarray array)
cdef int copy_triangles(unsigned char[:, ::1] result, const unsigned char[:, ::1] array, Py_ssize_t rows, Py_ssize_t diagonal,
                        Py_ssize_t itemsize, bint lower) noexcept nogil
