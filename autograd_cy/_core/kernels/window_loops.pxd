"""Loops of pooling and padding."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in window_loops.pyx

cdef enum Arrival:          # how elements move
    TAKEN = 0               # read at their places
    PUT = 1                 # written there
    ADDED = 2               # added there

cdef cnp.ndarray windows_of(npy_intp n, npy_intp count, npy_intp kernel, npy_intp stride, npy_intp padding, npy_intp dilation)
cdef cnp.ndarray adaptive_windows(npy_intp n, npy_intp count)
cdef tuple window_maxima(cnp.ndarray x, tuple sizes, tuple tables, tuple dilation)
cdef cnp.ndarray moved(cnp.ndarray source, cnp.ndarray places, tuple sizes, int dims, Arrival arrival)

# in pad_loops.pyx
cdef cnp.ndarray spread_out(cnp.ndarray x, list maps)
cdef cnp.ndarray folded_in(cnp.ndarray g, list maps, tuple sizes)
