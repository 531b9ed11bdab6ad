"""The levels of vmap that are open in a thread."""


cdef class BatchLevel:
    cdef readonly Py_ssize_t size       # of the batch
    cdef readonly str randomness
    cdef readonly long long number      # a running one: inner levels have larger ones
    cdef readonly BatchLevel outer
    cdef readonly bint is_open
    cdef int hidden                     # how many times: see `HiddenLevels`


cdef BatchLevel current_level()
cpdef list open_levels()
