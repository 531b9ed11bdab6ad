"""Indexing with brackets: slices, masks and index tensors, read and written."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

# in index_tensors.pyx

cdef class Indexing(Node):
    cdef tuple indices(self)


cdef bint is_mask(Tensor index) noexcept
cdef Tensor pick(Tensor x, tuple indices)
cdef tuple places_of(cnp.ndarray array, tuple indices)
cdef cnp.ndarray without_leading(cnp.ndarray values)
cdef object explained(object error, cnp.ndarray array, tuple indices, cnp.ndarray values)

# in getitem.pyx
cdef tuple place_of_index(Tensor x, object index, bint wanted)
cdef bint stands_for_tuple(object index)
cdef Tensor checked_index(Tensor index)

# in index_put.pyx
cdef int check_places_apart(Tensor target, tuple indices, object values, bint accumulate) except -1
cpdef index_put_(Tensor self, indices, values, accumulate=*)
