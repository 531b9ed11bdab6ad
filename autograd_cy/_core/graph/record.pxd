"""Whether and how an operation enters the graph."""

cimport numpy as cnp

from autograd_cy._core.arrays.dtypes cimport dtype
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.modes cimport current_mode
from autograd_cy._core.runtime.state cimport FORWARD_AD, NO_GRAD, ThreadState, thread_state

cdef bint needs_node(Tensor x) noexcept
cdef bint any_wanted(object tensors)
cdef Tensor record(Node node, Tensor y, Tensor a)
cdef Tensor record2(Node node, Tensor y, Tensor a, Tensor b)
cdef object record_all(Node node, object outputs, object inputs)
cdef int show(str name, object outputs, tuple inputs) except -1
cdef Tensor tangent_of(Tensor x)
ctypedef int (*RenewTangent)(Tensor view) except -1
cdef RenewTangent renew_tangent         # views.pyx fills it in
cpdef set_tangent(Tensor x, Tensor t)
cdef int set_tangents(Node node, object outputs, object inputs) except -1
cdef Tensor as_tensor(object value, str operation)
cdef Tensor tensor_argument(object value, str operation, str name, int position)
cdef long long dual_level() noexcept
cdef int enter(Node node, Tensor y) except -1
cdef Node new_node(object node_class, tuple constants)
cdef Tensor record_linear(object node_class, tuple constants, Tensor x, object array)
cdef Tensor record_view(object node_class, tuple constants, Tensor x, object array)
cdef object as_type(object g, dtype wanted)
cdef long long int64_of(object number) except? -1
cdef int wrap_dim(object dim, int ndim) except -1
cdef tuple shape_of(Tensor x)
cdef tuple broadcast_sizes(tuple a, tuple b)
