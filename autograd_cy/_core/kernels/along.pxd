"""Single elements along one dimension: taken by their numbers, and put, added or combined there."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum How:      # what becomes of an element and what is put there
    PUT
    ADD
    MULTIPLY
    LARGER
    SMALLER

cdef cnp.ndarray take_along(cnp.ndarray array, int dim, cnp.ndarray index)
cdef bint put_along(cnp.ndarray target, int dim, cnp.ndarray index, object source, How how) except -1
