"""Which backward freed a graph, and how that graph is linked to a new one."""

from autograd_cy._core.graph.node cimport Node


cdef class TaskRoots:
    """What the error for a freed node needs of a running task, a GraphTask: the nodes at which it began."""
    cdef list roots                 # they keep the graph alive


cdef int note_backward() except -1
cdef str history(Node node)
