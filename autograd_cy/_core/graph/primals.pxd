"""A node's saved tensors as its tangent rule sees them."""

from autograd_cy._core.graph.node cimport Node


cdef list hide_tangents(Node node, long long level)
cdef int show_tangents(Node node, list hidden) except -1
