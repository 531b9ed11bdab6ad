"""Writes in place: views, CopySlices, and all or nothing."""

from autograd_cy._core.arrays.buffers cimport Region
from autograd_cy._core.graph.context cimport Tangent
from autograd_cy._core.graph.memory cimport Part
from autograd_cy._core.graph.node cimport Node, NodeHooks
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport ANOMALY, DETECT_NAN, FORWARD_AD, OP_HOOKS

# in views.pyx

cdef class AsStridedBackward0(Node):
    pass


cdef bint is_view_of_another(Tensor x) noexcept
cdef Tensor tangent_base(Tensor x)

# in copy_slices.pyx

cdef class CopySlices(Node):
    cdef Node function          # the operation's own node, as if its result were a separate tensor
    cdef Region region
    cdef int position           # of the view among the inputs of `function`
    cdef int check(self) except -1

# in change.pyx

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

# in inplace.pyx

cdef enum:
    LOOKED_AT = ANOMALY | DETECT_NAN | OP_HOOKS         # modes that inspect an operation's result: case 5 of [All or nothing]
    BESIDE = LOOKED_AT | FORWARD_AD                     # modes in which a result is computed in other memory

cdef bint is_recorded_write(Tensor target, object source, str operation) except -1
cdef bint touches_graph(Tensor target, object source) except -1
cdef int refuse_write(Tensor target, str operation) except -1
cdef Tensor previous_of(Tensor target)
cdef Tensor result_of(Tensor target)
cdef int keep_copy(Tensor previous) except -1
cdef Tensor written(Tensor target, Tensor previous, Tensor y, str operation)
cdef int check_fits(cnp.ndarray target, cnp.ndarray source) except -1
cdef bint may_overlap(cnp.ndarray target, cnp.ndarray source) noexcept
cdef int check_apart(Tensor target, tuple operands) except -1
cdef int check_memory(cnp.ndarray target, cnp.ndarray source) except -1
