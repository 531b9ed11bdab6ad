"""Birth and death of tensors: spares that are used again, instances of subclasses, and freeing without recursion."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef Tensor new_tensor(cnp.ndarray array)
cdef Tensor moved_into(object cls, Tensor tensor)
