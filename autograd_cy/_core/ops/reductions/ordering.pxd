"""Reductions that compare elements: extremes, sorting, quantiles."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.ops.reductions.sums cimport WeightedReduction
from autograd_cy._core.runtime cimport numpy_api as cnp

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
