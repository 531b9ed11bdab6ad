"""A direction of a recurrent layer step by step, by recorded operations."""

from autograd_cy._core.kernels.recurrent_loops cimport CellKind

cdef tuple unrolled(CellKind kind, object x, object starts, bint reverse, object h, object c, tuple parameters)
cdef tuple adjoint(CellKind kind, object x, object starts, bint reverse, object h, object c, tuple parameters, list g)
