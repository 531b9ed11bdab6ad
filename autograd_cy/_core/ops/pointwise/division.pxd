"""Division: shared by operations without a derivative."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef object without_derivative(str name, Tensor y, Tensor a, Tensor b)
