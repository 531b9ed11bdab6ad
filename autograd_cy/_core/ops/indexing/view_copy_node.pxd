"""Nodes made from the node of a view."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor


cdef class ViewCopy(Node):
    pass


cdef tuple constants_of(Node own, object function, tuple arguments)
cdef object copied(object node_class, object function, object view_function, Tensor x, tuple arguments)
