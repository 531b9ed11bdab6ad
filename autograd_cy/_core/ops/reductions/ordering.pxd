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


cdef Tensor record_selecting(object node_class, tuple constants, Tensor x, Tensor values, Tensor indices)
cdef object elements_at(cnp.ndarray array, object places, int dim)

# in extremes.pyx

cdef class Extreme(WeightedReduction):
    cdef object is_result(self, object x, object y)


cdef class ExtremeOfAll(Extreme):
    pass


cdef int check_not_empty(cnp.ndarray array, Dims dims, str operation) except -1
cdef int check_some(cnp.ndarray array, str operation) except -1
