"""BatchedTensor: a tensor within vmap that holds all samples of a batch."""

from autograd_cy._core.batching.levels cimport BatchLevel
from autograd_cy._core.graph.tensor cimport Tensor


cdef class BatchedTensor(Tensor):
    cdef Tensor value           # all samples, along the first dimension; may be a BatchedTensor of an outer level
    cdef BatchLevel level


cpdef Tensor batched(Tensor value, BatchLevel level)
cpdef Tensor at_level(Tensor x, BatchLevel level)
cpdef Tensor at_level_or_expanded(Tensor x, BatchLevel level)
cdef bint has_samples(Tensor x, BatchLevel level) except -1
cpdef object with_samples(object x, BatchLevel level)
cdef BatchLevel level_of(Tensor x)
cdef Tensor values_of(Tensor x)
cdef object check_open(BatchLevel level)
cdef Tensor zeros_as(Tensor g, tuple sizes)
