"""Nodes of operations that select elements of their input along one dimension."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Selecting(Node):
    cdef object kept(self, object values)


cdef class OneOfMany(Selecting):
    pass


cdef Tensor record_selecting(object node_class, tuple constants, Tensor x, Tensor values, Tensor indices)
cdef object elements_at(cnp.ndarray array, object places, int dim)
