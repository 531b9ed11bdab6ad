"""Padding of arrays with their own elements."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray spread_out(cnp.ndarray x, list maps)
cdef cnp.ndarray folded_in(cnp.ndarray g, list maps, tuple sizes)
