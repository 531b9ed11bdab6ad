"""Which operations refuse an `out` that shares memory with an operand."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef int check_overlaps(Tensor out, str rule, tuple args, dict kwargs) except -1
