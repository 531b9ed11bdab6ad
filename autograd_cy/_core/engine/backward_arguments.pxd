"""Checks of the engine's arguments."""

from autograd_cy._core.graph.node cimport Node

cdef dict named(tuple args, dict kwargs)
cdef int check_roots(object tensors, object grad_tensors) except -1
cdef int check_ends(tuple tensors) except -1
cdef int check_inputs(object inputs, bint retained=*) except -1
cdef Node target_node(object x)
cdef int target_number(object x) except -1
