"""Tensors from arrays, and the arrays of tensors."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp


cpdef Tensor from_array(cnp.ndarray array)
cpdef Tensor sharing(cnp.ndarray array)
cpdef cnp.ndarray array_of(Tensor tensor)
cpdef Tensor data_of(Tensor tensor)
cdef int fill_buffer(Tensor self, Py_buffer *buffer, int flags) except -1
