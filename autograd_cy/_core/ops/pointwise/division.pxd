"""Division: what operations without a derivative share."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef object without_derivative(str name, Tensor y, Tensor a, Tensor b)
