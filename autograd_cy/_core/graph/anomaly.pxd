"""Anomaly mode: what nodes note of their making, and the report on the one that failed."""

from autograd_cy._core.graph.node cimport Node

cdef int note_trace(Node node, object outputs, object inputs, int mode) except -1
cdef int report(object error, Node node) except -1
cdef int check_roots_for_nan(tuple roots, tuple seeds, int mode) except -1
