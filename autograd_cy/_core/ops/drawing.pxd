"""Random keys that the core draws, and their generators."""

from libc.stdint cimport uint64_t

cdef object new_key()
cdef uint64_t key_of(object generator, str function) except? 0
cdef int check_generator(object generator, str function) except -1
cdef object source_of(object generator)
