"""What a write into a tensor's memory changes besides: made before the write, and committed after it."""

from autograd_cy._core.graph.node cimport Node, NodeHooks
from autograd_cy._core.graph.duals cimport Tangent
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.graph.versions cimport Part
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Change:
    cdef Tensor target              # the tensor that is written
    cdef str operation              # by whom, and where the user called it
    cdef object code
    cdef int instruction
    cdef Part part                  # of a view: where the write goes
    cdef Tensor owner               # who gets the node: the target, or its base; None: nothing is recorded
    cdef Node node
    cdef int output
    cdef NodeHooks retaining        # of the node that the owner had: it is to retain its gradient no longer
    cdef object key                 # as which output
    cdef bint with_tangents
    cdef Tangent tangents           # of the target
    cdef Tensor base                # of a view: whose tangents become `whole`
    cdef Tangent whole


cdef Change change_of(Tensor target, Tensor result, str operation)
cdef int give_place(Change change, Node node, int output, int position) except -1
cdef int hold_tangent(Change change) except -1
cdef int assign(Change change, cnp.ndarray source, object index=*) except -1
cdef void commit(Change change) noexcept
