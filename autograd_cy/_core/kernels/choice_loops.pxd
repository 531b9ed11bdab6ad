"""Elementwise choice between two arrays by a condition."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray chosen(cnp.ndarray condition, cnp.ndarray x, cnp.ndarray y, int dtype_code)
