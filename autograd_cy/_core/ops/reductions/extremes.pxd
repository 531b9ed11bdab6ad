"""Nodes of operations that return the value of some elements, without their indices, and checks for such operations."""

from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.ops.reductions.reduction_node cimport WeightedReduction
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Extreme(WeightedReduction):
    cdef object is_result(self, object x, object y)


cdef class ExtremeOfAll(Extreme):
    pass


cdef int check_not_empty(cnp.ndarray array, Dims dims, str operation) except -1
cdef int check_some(cnp.ndarray array, str operation) except -1
