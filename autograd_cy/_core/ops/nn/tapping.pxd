"""Nodes of operations whose results are weighted sums of neighbouring elements."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class TapsNode(Node):
    cdef int gradient_format(self, cnp.ndarray g) except -1


cdef bint suggested(cnp.ndarray x, tuple taps, bint averaged) noexcept
cdef Tensor weighed(object node_class, tuple constants, Tensor x, object saved=*)
