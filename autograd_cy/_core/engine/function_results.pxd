"""What the backward and the jvp of a user's Function return."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor


cdef class Metadata:
    """Shape and dtype of a tensor."""
    cdef tuple shape
    cdef int dtype_code


cdef class Origin:
    """The input behind an output of forward: one that forward wrote to, or of which the output is a view."""
    cdef int input                  # index among the tensor inputs
    cdef bint written


cdef Metadata metadata_of(Tensor tensor)
cdef Tensor zeros(Metadata metadata)
cdef bint is_constant(Metadata output, tuple marks, int i) except -1
cdef tuple checked_gradients(Node node, tuple results, tuple arguments)
cdef object checked_tangents(Node node, tuple results, tuple outputs, tuple marks)
cdef int check_origin(Node node, Origin origin, object tangent, Tensor given, long version) except -1
cdef Tensor tangent_owner(Tensor x)
