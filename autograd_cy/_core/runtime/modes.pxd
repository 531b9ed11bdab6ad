"""The modes of the current context, in the thread's `mode`."""

from autograd_cy._core.runtime.state cimport ASIDE, ThreadState, thread_state

cdef int ask(ThreadState *state) noexcept
cdef int own_modes() noexcept
cdef int inference_settings         # number of live settings with inference mode, of all threads


cdef inline int current_mode() noexcept:
    """The modes that operations must respect, usually 0. Modes must be read through this function."""
    cdef ThreadState *state = thread_state()
    return 0 if state.mode == 0 else ask(state)


cdef tuple stack_of(int bit)
cdef int set_stack(int bit, tuple stack) except -1
cdef int push_value(int bit, object value) except -1
cdef int pop_value(int bit, str name) except -1


cdef struct Extent:                 # the state that `leave_modes` restores
    int mode, base
    unsigned long long since


cdef Extent enter_modes(int on, int off) noexcept
cdef void leave_modes(Extent extent) noexcept
