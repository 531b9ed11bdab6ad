"""Deeply nested backward continues in another thread.

A hook or Function that calls backward nests the engine in itself, on one C stack and with one recursion limit. After some
levels the engine continues in a fresh thread, which gets the state of the first, and waits for it.

In a parallel walk, code that must run in the order of the nodes (drawing random numbers, unpacking saved tensors by hooks)
calls `take_turn` first.
"""

import contextvars
import ctypes

from autograd_cy._core.runtime.free_threading cimport load_pointer

turn_taker = NULL
POLL = 0.1          # seconds between two checks for an exception that another thread sent to a waiting one


cdef class Call:
    """A call that runs in another thread."""
    cdef ThreadState state
    cdef object function
    cdef tuple arguments
    cdef object error

    def __call__(self):
        thread_state()[0] = self.state
        try:
            self.function(*self.arguments)
        except BaseException as error:
            self.error = error
        self.state = thread_state()[0]


cdef ThreadState travelling(ThreadState *state) noexcept:
    """A thread's state for another thread that starts with a copy of its context."""
    cdef ThreadState copy
    own_modes()
    copy = state[0]
    copy.base = state.own                 # the context's Settings belong to this thread
    copy.settings = NULL
    copy.mode &= ~IN_CONTEXT
    return copy


cpdef int take_turn() except -1:
    """take_turn(): wait until all nodes before the running one in the serial order have run."""
    cdef TakeTurn take = <TakeTurn> load_pointer(<void **> &turn_taker)
    return 0 if take == NULL else take()


cdef int in_fresh_thread(object function, tuple arguments) except -1:
    """Call the function in another thread with this one's modes, numbers and context; its exception is raised here."""
    cdef ThreadState *state = thread_state()
    cdef Call call = Call.__new__(Call)
    import threading                      # most programs don't need it
    call.state = travelling(state)
    call.function = function
    call.arguments = arguments
    thread = threading.Thread(target=contextvars.copy_context().run, args=(call,), name="nested backward", daemon=True)
    thread.start()
    interrupt = waited_for(thread)
    state.sequence_nr = max(state.sequence_nr, call.state.sequence_nr)
    state.dual_levels = call.state.dual_levels
    error = call.error or interrupt
    call.error = None
    if error is not None:
        raise error
    return 0


cdef object waited_for(object thread):
    """Wait until the thread has ended. An exception that arrives meanwhile (Ctrl-C) is sent to it, and returned."""
    interrupt = None
    while thread.is_alive():
        try:
            thread.join(POLL)
        except BaseException as error:
            interrupt = error
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(type(error)))
    return interrupt
