"""In-place operations composed of others, and those that overwrite a tensor's values."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef class Overwriting(Node):
    pass

cdef class FillWithTensor(Overwriting):
    pass

cdef object call_in_place(object function, tuple args, dict kwargs)
cdef Tensor in_place(str operation, object function, Tensor target, tuple arguments)
cdef Tensor overwrite(Tensor target, object value, object node_class, str operation)
cdef cnp.ndarray real_part(cnp.ndarray source, int dtype_code)
cdef int put(Tensor target, object value, str operation) except -1
cdef int write(Tensor target, cnp.ndarray source, Tensor result, str operation) except -1
cpdef copy_(Tensor self, src, non_blocking=*)
cpdef fill_(Tensor self, value)
