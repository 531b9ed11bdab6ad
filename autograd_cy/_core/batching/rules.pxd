"""Batching rules: how an operation handles operands with a batch dimension."""

from autograd_cy._core.batching.levels cimport BatchLevel
from autograd_cy._core.graph.tensor cimport Tensor


cdef class BatchedCall:
    cdef readonly object function
    cdef readonly BatchLevel level

    cpdef bint is_batched(self, object x) except -1
    cpdef object value(self, object x)
    cpdef object front(self, object x)
    cpdef object aligned(self, object x, int rank)


cdef object sample_of(object x, BatchLevel level, Py_ssize_t k)
cdef object stacked(list results)
