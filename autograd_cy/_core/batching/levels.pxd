"""The levels of vmap that are open in a thread."""


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
cdef bint is_open_here(BatchLevel level) noexcept
cpdef list open_levels()
