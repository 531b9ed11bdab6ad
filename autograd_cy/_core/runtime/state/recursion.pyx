"""Recursion without an end stops with RecursionError.

NOTE [Recursion]
  1. Python limits the number of calls, not the bytes of the stack. In a thread with a stack of 256 kB, recursion through C
     overflows the stack long before the limit of 1000 calls. So code that calls back into Python (public functions, Functions,
     `__torch_function__`) first checks that the stack has room. The last 64 kB, or a quarter of a smaller stack, are reserved
     for code that does not call back.
  2. Backward within backward continues in fresh threads (reentry.pyx), where Python counts calls from 0 and the stack is
     empty. So the engine limits the number of these levels itself: `deepest_backward`.
  3. A dual tensor has up to 2^n tangents at n levels. A function that calls jvp() of itself would compute for years before it
     reached a limit, so make_dual() limits their number (`MOST_TANGENTS` in record.pyx).
"""

cdef extern from "stack_room.h":
    bint autograd_cy_has_room() noexcept nogil

cdef extern from "Python.h":
    int Py_GetRecursionLimit() noexcept

cdef enum:
    LEVELS_PER_CALL = 4


cdef bint has_room() noexcept:
    """Whether this thread's C stack has room for a call that may call back."""
    return autograd_cy_has_room()


cdef int check_room() except -1:
    """RecursionError if the stack has no room for a call that may call back."""
    if not autograd_cy_has_room():
        raise RecursionError("maximum recursion depth exceeded: the stack of this thread has no room for more calls")
    return 0


cdef int deepest_backward() noexcept:
    """The largest depth of nested backwards."""
    return LEVELS_PER_CALL * Py_GetRecursionLimit()
