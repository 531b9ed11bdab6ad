"""The choice between two arrays by a third."""

cimport numpy as cnp

cdef cnp.ndarray chosen(cnp.ndarray condition, cnp.ndarray x, cnp.ndarray y, int dtype_code)
