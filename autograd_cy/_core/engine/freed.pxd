"""Which backward freed a graph, and how that graph is linked to a new one."""

from autograd_cy._core.graph.node cimport Node

cdef int note_backward() except -1
cdef str history_of(Node node, list roots)
