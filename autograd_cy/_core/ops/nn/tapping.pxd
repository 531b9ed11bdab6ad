"""Nodes of operations whose results are weighted sums of neighbouring elements."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor


cdef class TapsNode(Node):
    pass


cdef Tensor weighed(object node_class, tuple constants, Tensor x, object saved=*)
