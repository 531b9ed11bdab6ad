"""Random tensors: generators, distributions, draws into a tensor."""

# in drawing.pyx
cdef object new_key()
