"""Normalization over layers, channels and groups."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.runtime cimport numpy_api as cnp

# in layer_norm.pyx
cdef void *data_of(cnp.ndarray array) noexcept
cdef int check_types(Tensor x, Tensor weight, Tensor bias, str operation, str kernel) except -1
cdef object projected(object h, object z, object scale, tuple dims)
cdef tuple standardized(object x, tuple dims, double eps, cnp.ndarray known)
cdef tuple sizes_argument(object value, str operation)
cdef int check_sizes(Tensor x, tuple sizes, Tensor weight, Tensor bias) except -1

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


cdef cnp.ndarray vector(int dtype_code, Py_ssize_t n)
cdef cnp.ndarray moments_of(cnp.ndarray x, const Planes *planes, double eps, cnp.ndarray means, cnp.ndarray scales)
cdef cnp.ndarray normalized_planes(cnp.ndarray x, const Planes *planes, cnp.ndarray means, cnp.ndarray scales, Tensor weight,
                            Tensor bias)
cdef Planes planes_of(cnp.ndarray x) except *
cdef int check_channels(Planes planes, tuple tensors, str names) except -1
cdef Tensor record_norm(ChannelNorm node, cnp.ndarray array, Tensor x, Tensor weight, Tensor bias)
