"""Writing into a tensor's memory: what may be written, the checks before it, and how it enters the graph."""

cimport numpy as cnp

from autograd_cy._core.node cimport Node
from autograd_cy._core.tensor cimport Tensor

cdef bint is_recorded_write(Tensor target, object source, str operation) except -1
cdef bint touches_graph(Tensor target, object source) except -1
cdef int refuse_write(Tensor target, str operation) except -1
cdef Tensor previous_of(Tensor target)
cdef Tensor result_of(Tensor target)
cdef int adopt(Tensor target, Tensor result, int position=*) except -1
cdef int rebase(Tensor target, Node node, int output, int position) except -1
cdef int keep_copy(Tensor previous) except -1
cdef Tensor written(Tensor target, Tensor previous, Tensor y, str operation)
cdef int check_fits(cnp.ndarray target, cnp.ndarray source) except -1
cdef bint may_overlap(cnp.ndarray target, cnp.ndarray source)
cdef int check_memory(cnp.ndarray target, cnp.ndarray source) except -1
