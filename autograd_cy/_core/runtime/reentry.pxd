"""Deeply nested backward goes on in another thread; what waits for its turn where several threads run one backward."""

from autograd_cy._core.runtime.state cimport ThreadState

ctypedef int (*TakeTurn)() except -1
cdef TakeTurn turn_taker        # engine/parallel_walk.pyx fills it in, as long as several threads run a backward; else NULL

cdef ThreadState travelling(ThreadState *state) noexcept
cpdef int take_turn() except -1
cdef int in_fresh_thread(object function, tuple arguments) except -1
