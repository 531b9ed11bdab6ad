"""Indexing: interpreting an index."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef tuple place_of_index(Tensor x, object index, bint wanted)
cdef bint stands_for_tuple(object index)
cdef Tensor checked_index(Tensor index)
