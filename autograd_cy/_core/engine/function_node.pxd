"""The node of a user's Function, which is also its ctx."""

from autograd_cy._core.engine.intermediates cimport Trail
from autograd_cy._core.graph.node cimport Node


cdef class FunctionNode(Node):
    cdef tuple arguments            # for each argument of forward: Metadata of a tensor, or None
    cdef tuple outputs              # Metadata of each output of forward, None for a non-tensor
    cdef tuple wanted               # for each argument of forward: whether it is a tensor that requires grad
    cdef object given_needs         # needs_input_grad as the user set it, or None
    cdef readonly tuple to_save
    cdef readonly tuple saved_for_forward
    cdef readonly tuple non_differentiable  # until forward has returned; afterwards `marks`:
    cdef tuple marks                # for each output, whether it was marked; None: no output was
    cdef tuple dirty                # inputs that forward wrote to
    cdef list kept                  # SavedTensors
    cdef Trail trail                # while forward is followed, else None; see NOTE [Intermediates of Functions]
    cdef dict intermediates         # place of saved tensors -> a list with an Intermediate or None for each; usually None
    cdef dict hidden                # intermediates removed from the attributes while backward or jvp runs, else None
    cdef tuple origins              # during jvp: for each output an Origin or None
    cdef bint materializes
    cdef bint keeps_undefined       # None instead of zeros for outputs without a gradient
    cdef bint in_jvp
    cdef bint cleared               # saved_tensors was read, and must be read only once

    cdef bint is_set(self, str flag) except -1
    cdef object call_backward(self, list gradients)
    cdef int shown(self) except -1
