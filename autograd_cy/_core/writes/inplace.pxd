"""Writing into a tensor's memory: the checks before a write, and how it enters the graph."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport ANOMALY, DETECT_NAN, FORWARD_AD, OP_HOOKS

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
