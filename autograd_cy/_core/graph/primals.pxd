"""What a node saved, as its tangent rule sees it."""

from autograd_cy._core.graph.node cimport Node


cdef list hide_tangents(Node node, long long level)
cdef int show_tangents(Node node, list hidden) except -1
