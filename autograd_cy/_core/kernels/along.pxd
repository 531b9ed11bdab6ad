"""Gather along one dimension, and scatter: elements are put, added or combined."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum How:      # how an old and a new element are combined
    PUT
    ADD
    MULTIPLY
    LARGER
    SMALLER

cdef cnp.ndarray take_along(cnp.ndarray array, int dim, cnp.ndarray index)
cdef bint put_along(cnp.ndarray target, int dim, cnp.ndarray index, object source, How how) except -1
