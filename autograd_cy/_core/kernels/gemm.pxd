"""Products of matrices and vectors."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray product(cnp.ndarray left, bint turn_left, cnp.ndarray right, bint turn_right)
cdef cnp.ndarray conjugated(cnp.ndarray array)
cdef int add_row(cnp.ndarray y, cnp.ndarray row) except -1
