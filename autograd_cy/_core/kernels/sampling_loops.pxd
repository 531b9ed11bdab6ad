"""Loops of interpolation: weighted elements of lines and grids."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in taps.pyx

cdef class Taps:
    cdef readonly cnp.ndarray starts, counts, weights
    cdef readonly npy_intp n, out
    cdef readonly npy_intp step         # from one element of a sum to the next
    cdef cnp.ndarray narrow             # the weights in float32
    cdef npy_intp every                 # the count of all outputs; -1 if counts differ
    cdef Taps turned
    cdef Taps woven
    cdef cnp.ndarray weights_in(self, int dtype_code)
    cdef Taps transposed(self)
    cdef Taps of_channels(self, npy_intp channels)


cdef cnp.ndarray tapped(cnp.ndarray x, tuple taps)

# in grid_loops.pyx
cdef cnp.ndarray gathered(cnp.ndarray x, cnp.ndarray index, cnp.ndarray weights)
cdef cnp.ndarray scattered(cnp.ndarray g, cnp.ndarray index, cnp.ndarray weights, Py_ssize_t n)
cdef cnp.ndarray products(cnp.ndarray g, cnp.ndarray x, cnp.ndarray index)
