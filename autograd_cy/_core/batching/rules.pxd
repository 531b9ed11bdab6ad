"""Batching rules: those declared with an operation, and kinds of rules."""

from autograd_cy._core.batching.batched cimport BatchLevel

# in sample_loop.pyx
cdef object sample_of(object x, BatchLevel level, Py_ssize_t k)
cdef object stacked(list results)
cdef object of_samples(object function, tuple tensors, object constant)
cdef tuple jvp_by_samples(object node, tuple tangents, tuple outputs)

# in batched_operators.pyx
cdef tuple OPERANDS             # the types of an operator's operands

cdef BatchLevel batch_level(object arguments)
cdef object operator_on_batch(int k, object function, BatchLevel level, object left, object right)
