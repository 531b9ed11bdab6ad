"""Nodes whose gradients hooks see, or that are searched for NaN."""

from cpython.object cimport PyObject

from autograd_cy._core.engine.graph_task cimport GraphTask
from autograd_cy._core.graph.node cimport Node, NodeHooks

cdef bint is_seen(GraphTask task, Node node) except -1
cdef bint has_node_hooks(NodeHooks hooks) except -1
cdef int propagate_searched(GraphTask task, Node node, object g) except -1
cdef object searched_gradient(GraphTask task, Node node, object g, int i)
cdef int propagate_together(GraphTask task, Node node, object g) except -1
cdef tuple gradients_together(GraphTask task, Node node, PyObject *incoming)
