"""Elements picked by index tensors."""

from autograd_cy._core.node cimport Node
from autograd_cy._core.tensor cimport Tensor


cdef class Indexing(Node):
    cdef tuple indices(self)


cdef bint is_mask(Tensor index) noexcept
cdef Tensor pick(Tensor x, tuple indices)
