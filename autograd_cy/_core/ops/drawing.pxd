"""Random tensors: generators, distributions, draws into a tensor."""

from libc.stdint cimport uint64_t

# in drawing.pyx
cdef object new_key()
cdef uint64_t key_of(object generator, str function) except? 0
cdef int check_generator(object generator, str function) except -1
cdef object source_of(object generator)
