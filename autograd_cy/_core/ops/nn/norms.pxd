"""Normalization over layers, channels and groups."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.runtime cimport numpy_api as cnp

# in channel_norm.pyx

cdef class ChannelNorm(Node):
    cdef Planes planes
    cdef bint corrected                 # the statistics are the input's own
    cdef bint channels_last             # of the input, and so of results and gradients ...
    cdef bint at_end                    # ... which the kernels view as (N, ..., C)
    cdef double eps
    cdef cnp.ndarray means, scales      # in float32 or float64, until they are released
    cdef cnp.ndarray sums               # the gradient's sums over planes, kept for the next requests

    cdef object shown(self, cnp.ndarray numbers)
    cdef cnp.ndarray products(self, cnp.ndarray g, cnp.ndarray x, bint keep)
    cdef int write_parameter_gradient(self, cnp.ndarray g, cnp.ndarray x, int i, cnp.ndarray out, bint keep) except -1
    cdef int write_input_gradient(self, cnp.ndarray g, cnp.ndarray x, cnp.ndarray w, cnp.ndarray out,
                                  bint keep) except -1
    cdef tuple deviations(self, object x)
    cdef object by_statistics(self, object x)
    cdef tuple dims(self)
    cdef object statistics_like(self, cnp.ndarray numbers)
