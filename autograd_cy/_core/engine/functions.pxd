"""Functions of the user: the call, its node, its results and intermediates."""

from autograd_cy._core.graph.memory cimport VersionCounter
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor

# in function_results.pyx

cdef class Metadata:
    """Shape and dtype of a tensor."""
    cdef tuple shape
    cdef int dtype_code


cdef class Origin:
    """The input behind an output of forward: one that forward wrote to, or of which the output is a view."""
    cdef int input                  # index among the tensor inputs
    cdef bint written

# in intermediates.pyx
cdef str SAVED, SAVED_FOR_JVP, ATTRIBUTE        # where a Function keeps tensors; the last one is a prefix


cdef class Trail:
    """Which tensors a Function's forward computed from which inputs."""
    cdef list inputs                # (position, tensor) of each differentiable input
    cdef list may_be_written        # operands of the last operation: (VersionCounter, its version, sources of the result)
    cdef dict sources               # VersionCounter of some memory: a bit for each input that it was computed from
    cdef dict places                # id of a saved tensor -> (its name in forward, file and line)
    cdef object handle              # of the hook on operations

    cdef int add(self, VersionCounter counter, long long sources) except -1
    cdef int note_write(self) except -1
    cdef int end(self) except -1
    cdef int note_saved(self, tuple tensors) except -1
    cdef long long sources_of(self, Tensor tensor) except -1


cdef class Intermediate:
    """A saved tensor that is neither an input nor an output of its Function."""
    cdef readonly str text          # of the error under double backward
    cdef readonly bint certain      # whether it is known to be computed from an input
    cdef tuple levels               # the dual levels at which those inputs have tangents
    cdef long long sources          # a bit for each tensor argument

# in function_node.pyx

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
