"""Elementwise losses, and their mean or sum in the same node."""

from cpython.object cimport PyObject

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.pointwise_node cimport Pointwise, PointwiseNode
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    NONE = 0
    MEAN = 1
    SUM = 2


cdef class LossNode(PointwiseNode):
    cdef object whole(self, object g)
    cdef object reduced(self, object t)


cdef Tensor record_loss(Pointwise *row, cnp.ndarray losses, PyObject **arrays, Tensor a, Tensor b, Tensor c, int reduction,
                        tuple constants)
