"""Nodes made from the node of a view."""

from autograd_cy._core.graph.node cimport Node


cdef class ViewCopy(Node):
    pass


cdef tuple constants_of(Node own, object function, tuple arguments)
