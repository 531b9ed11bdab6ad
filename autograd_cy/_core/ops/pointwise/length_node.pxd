"""Elementwise lengths."""

from autograd_cy._core.ops.pointwise.pointwise_node cimport PointwiseNode


cdef class LengthNode(PointwiseNode):
    pass
