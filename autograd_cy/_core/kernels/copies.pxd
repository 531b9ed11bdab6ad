"""Copies that several threads make together."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray copied(cnp.ndarray array)
