"""The few largest or smallest elements of rows."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    FEW = 32                # as many as are kept in order while a row is read

cdef cnp.ndarray few_extreme_places(cnp.ndarray rows, Py_ssize_t count, bint largest)
