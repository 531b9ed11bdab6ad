"""The few largest or smallest elements of rows."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    FEW = 32                # elements kept sorted while a row is read, at most

cdef cnp.ndarray few_extreme_places(cnp.ndarray rows, Py_ssize_t count, bint largest)
