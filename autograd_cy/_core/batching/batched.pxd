"""Batched tensors, their levels, and a call on them."""

from autograd_cy._core.graph.tensor cimport Tensor

# in levels.pyx

cdef class BatchLevel:
    cdef readonly Py_ssize_t size       # of the batch
    cdef readonly str randomness
    cdef readonly long long number      # a serial number: inner levels have larger ones
    cdef readonly BatchLevel outer
    cdef readonly bint is_open
    cdef int hidden                     # number of enclosing HiddenLevels
    cdef int unbatched                  # number of running transforms that differentiate by a tensor not batched at it
    cdef long long dual                 # ... the innermost dual level around the outermost of them, or 0
    cdef list arguments                 # ... and those tensors
    cdef bint lifted                    # a tensor that requires grad was expanded to its samples: case 8 of NOTE [Batching]


cdef BatchLevel current_level()
cpdef list open_levels()

# in batched.pyx

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

# in batched_call.pyx

cdef class BatchedCall:
    cdef readonly object function
    cdef readonly BatchLevel level

    cpdef bint is_batched(self, object x) except -1
    cpdef object value(self, object x)
    cpdef object front(self, object x)
    cpdef object aligned(self, object x, int rank)


cdef object first_sample(object x)
