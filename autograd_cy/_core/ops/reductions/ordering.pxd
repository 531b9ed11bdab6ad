"""Reductions that compare elements: extremes, sorting, quantiles."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.ops.reductions.sums cimport WeightedReduction

# in selecting.pyx

cdef class Selecting(Node):
    cdef object kept(self, object values)


cdef class OneOfMany(Selecting):
    pass

# in extremes.pyx

cdef class Extreme(WeightedReduction):
    cdef object is_result(self, object x, object y)


cdef class ExtremeOfAll(Extreme):
    pass
