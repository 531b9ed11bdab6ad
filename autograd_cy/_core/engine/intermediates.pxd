"""Intermediate results that a Function saves."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.graph.versions cimport VersionCounter


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


cdef Trail follow(list inputs)
cdef bint is_intermediate(Tensor tensor, list inputs, list outputs)
cdef Intermediate intermediate(Node node, Trail trail, Tensor tensor, str slot, list inputs)
cdef bint asks_for_derivative(Tensor x) except -1
cdef tuple refusing(Node node, dict intermediates, str where, tuple tensors)
cdef dict hide_attributes(Node node, dict intermediates)
cdef int show_attributes(Node node, dict hidden) except -1
cdef object refused(Node node, dict intermediates, str name, object value)
