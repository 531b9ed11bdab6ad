"""Dropout of elements."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray dropped(cnp.ndarray x, unsigned long long key, double p)
