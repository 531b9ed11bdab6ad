"""Arguments of operations: tensors, dimensions, sizes and types, with the errors for what is none."""

from autograd_cy._core.arrays.dtypes cimport dtype
from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor as_tensor(object value, str operation)
cdef Tensor tensor_argument(object value, str operation, str name, int position)
cdef object as_type(object g, dtype wanted)
cdef long long int64_of(object number) except? -1
cdef int wrap_dim(object dim, int ndim) except -1
cdef tuple shape_of(Tensor x)
cdef tuple broadcast_sizes(tuple a, tuple b)
cdef bint needs_grad(object inputs)
