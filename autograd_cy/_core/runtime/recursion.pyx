"""Recursion without an end stops with RecursionError.

NOTE [Recursion]
  1. Python counts calls, not bytes: on the stack of a thread with 256 kB, a function that calls itself through C overflows it
     long before the limit of 1000. So what calls back into Python (a public function, a Function, `__torch_function__`) asks
     first whether the stack has room. The last 64 kB, or a quarter of a smaller stack, are kept for what calls nobody back.
  2. Backward within backward goes on in fresh threads (reentry.pyx), where Python counts from 0 and the stack is empty. The
     engine counts these levels itself: `deepest_backward`.
  3. A tensor in forward mode has up to 2^n tangents at n levels: what calls jvp() of itself would compute for years before
     it reached any limit. So make_dual() counts them (`MOST_TANGENTS` in record.pyx).
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
    """How many levels of backward within backward there may be."""
    return LEVELS_PER_CALL * Py_GetRecursionLimit()
