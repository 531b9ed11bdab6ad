"""Elements picked by index tensors."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Indexing(Node):
    cdef tuple indices(self)


cdef bint is_mask(Tensor index) noexcept
cdef Tensor pick(Tensor x, tuple indices)
cdef tuple places_of(cnp.ndarray array, tuple indices)
cdef cnp.ndarray without_leading(cnp.ndarray values)
cdef object explained(object error, cnp.ndarray array, tuple indices, cnp.ndarray values)
