"""The side effects of a write into a tensor's memory: prepared before the write and committed after it."""

from autograd_cy._core.graph.node cimport Node, NodeHooks
from autograd_cy._core.graph.duals cimport Tangent
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.graph.versions cimport Part
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Change:
    cdef Tensor target              # the tensor that is written
    cdef str operation              # the operation's name, and where the user called it
    cdef object code
    cdef int instruction
    cdef Part part                  # the part of the base that is written, if the target is a view
    cdef Tensor owner               # gets the node: the target or its base; None if nothing is recorded
    cdef Node node
    cdef int output
    cdef NodeHooks retaining        # hooks of the owner's former node, which retained its gradient
    cdef object key                 # the output of that node
    cdef bint with_tangents
    cdef Tangent tangents           # the target's new tangents
    cdef Tensor base                # the base of a view target: `whole` becomes its tangents
    cdef Tangent whole


cdef Change change_of(Tensor target, Tensor result, str operation)
cdef int give_place(Change change, Node node, int output, int position) except -1
cdef int hold_tangent(Change change) except -1
cdef int assign(Change change, cnp.ndarray source, object index=*) except -1
cdef void commit(Change change) noexcept
