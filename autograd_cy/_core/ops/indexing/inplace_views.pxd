"""Shared by in-place operations that give a tensor another shape."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef int take_place(Tensor self, Tensor y) except -1
