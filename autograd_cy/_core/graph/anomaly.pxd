"""Anomaly mode: traces on nodes, and the report on a node that failed."""

from autograd_cy._core.graph.node cimport Node

cdef int note_trace(Node node, object outputs, object inputs, int mode) except -1
cdef int report(object error, Node node) except -1
cdef int check_roots_for_nan(tuple roots, tuple seeds, int mode) except -1
