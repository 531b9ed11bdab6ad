"""A backward that several threads walk."""

from autograd_cy._core.engine.graph_task cimport GraphTask
from autograd_cy._core.runtime.state cimport ThreadState

cdef int walk_together(GraphTask task, ThreadState *state, int most) except -1
cdef object pace_now()
