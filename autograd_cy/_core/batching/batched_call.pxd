"""A call of an operation with batched tensors, as batching rules see it."""

from autograd_cy._core.batching.levels cimport BatchLevel


cdef class BatchedCall:
    cdef readonly object function
    cdef readonly BatchLevel level

    cpdef bint is_batched(self, object x) except -1
    cpdef object value(self, object x)
    cpdef object front(self, object x)
    cpdef object aligned(self, object x, int rank)


cdef object first_sample(object x)
