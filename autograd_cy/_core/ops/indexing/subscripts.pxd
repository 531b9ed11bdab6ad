"""Indexing with brackets: slices, masks and index tensors, read and written."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor

# in index_tensors.pyx

cdef class Indexing(Node):
    cdef tuple indices(self)

# in index_put.pyx
cpdef index_put_(Tensor self, indices, values, accumulate=*)
