"""Nodes of operations that return the value of some elements, without their indices."""

from autograd_cy._core.ops.reductions.reduction_node cimport WeightedReduction


cdef class Extreme(WeightedReduction):
    cdef object is_result(self, object x, object y)


cdef class ExtremeOfAll(Extreme):
    pass
