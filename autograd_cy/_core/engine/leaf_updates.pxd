"""Adding a gradient to a leaf's `.grad`, with the hooks around it."""

from autograd_cy._core.engine.graph_task cimport GraphTask
from autograd_cy._core.graph.node cimport Node

cdef int update_leaf(GraphTask task, Node node, object g, bint seen) except -1
cdef int update_held(GraphTask task) except -1
