"""What a node keeps of its inputs and outputs."""

cimport numpy as cnp

from autograd_cy._core.node cimport Node
from autograd_cy._core.tensor cimport Tensor, VersionCounter

cdef int save_input(Node node, int slot, Tensor tensor) except -1
cdef int save_output(Node node, Tensor tensor) except -1
cdef object unpack(Node node, int slot)
cdef cnp.ndarray saved_array(Node node, int slot)
cdef object freed_error(Node node)
cdef int keep_tangents(Node node, tuple tangents, long long level) except -1


cdef class SavedTensor:
    """One tensor that a user's Function saved."""
    cdef object value               # the Tensor; of an output its array
    cdef VersionCounter counter     # of an output
    cdef long version
    cdef int output_number

    cdef object unpack(self, Node node)


cdef SavedTensor save(object tensor, Node node)
