"""Hooks on all operations, forward and backward; the log of nodes that the engine runs."""

from autograd_cy._core.graph.node cimport Node

cdef int pause() noexcept
cdef void go_on(int paused) noexcept
cdef int observe_forward(Node node, object outputs, object inputs) except -1
cdef bint is_logged() except -1
cdef int observe_start(Node node, tuple gradients) except -1
cdef int observe_end(Node node, tuple results, tuple gradients) except -1
