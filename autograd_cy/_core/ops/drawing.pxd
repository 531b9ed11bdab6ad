"""Random tensors: generators, distributions, draws into a tensor."""

from libc.stdint cimport uint64_t

# in drawing.pyx
cdef object new_key()
