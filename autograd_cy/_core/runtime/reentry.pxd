"""Deeply nested backward continues in another thread; code that waits for its turn in a parallel walk."""

from autograd_cy._core.runtime.state cimport ThreadState

ctypedef int (*TakeTurn)() except -1
cdef TakeTurn turn_taker        # engine/parallel_walk.pyx sets it while a parallel walk runs; else NULL

cdef ThreadState travelling(ThreadState *state) noexcept
cpdef int take_turn() except -1
cdef int in_fresh_thread(object function, tuple arguments) except -1
