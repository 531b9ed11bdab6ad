"""Operators with BatchedTensors."""

from autograd_cy._core.batching.levels cimport BatchLevel

cdef tuple OPERANDS             # the types of an operator's operands

cdef BatchLevel batch_level(object arguments)
cdef object operator_on_batch(int k, object function, BatchLevel level, object left, object right)
