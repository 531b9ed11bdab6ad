"""One saved tensor with its extra state."""

from autograd_cy._core.graph.guard cimport Guard
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.graph.versions cimport VersionCounter


cdef class Packed:
    """The result of pack hooks, and the data for making a Tensor from the result of the unpack hooks."""
    cdef tuple pairs                # of hooks, in the order of packing
    cdef object data
    cdef str slot
    cdef Tensor history             # of an input: a Tensor without data at its place in the graph, with its tangents
    cdef tuple shape
    cdef int dtype_code
    cdef bint dense                 # the saved array was C-contiguous, which the operation may rely on


cdef class SavedTensor:
    """One saved tensor with its extra state: hooks, a guard, or a user's handle. A Function always uses it."""
    cdef Guard guard                # keeps the array read-only, or None
    cdef object value               # a Tensor; an array if it is an output; Packed if it has hooks
    cdef VersionCounter counter     # of an output
    cdef long version
    cdef int output_number
    cdef bint released              # the node released it
    cdef object node                # a weak reference to the node, if a user has the handle

    cdef Node owner(self)
    cdef Tensor tensor(self, Node node)
    cdef object restored(self, Node node)
    cdef int pack(self, tuple pairs, Node node, str slot, Tensor tensor, Tensor given) except -1
    cdef int release(self) except -1


cdef SavedTensor save(object tensor, Node node)
cdef int save_several(Node node, int slot, tuple tensors) except -1
cdef int seal(SavedTensor saved, Node node, str slot) except -1
cdef int refuse_inference(Node node) except -1
cdef int seal_slots(Node node) except -1
cdef bint unpacks(Node node) except -1
cdef int release_handles(Node node) except -1
cdef tuple handles(Node node, tuple saved)
cdef SavedTensor handle_of(Node node, int slot)
cdef int take_history(Tensor alias, Tensor tensor) except -1
