"""What in-place operations share that give a tensor another form."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef int take_place(Tensor self, Tensor y) except -1
