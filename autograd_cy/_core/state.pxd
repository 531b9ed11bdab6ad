"""What belongs to a thread: its modes and its counters."""

cdef extern from "state.h" nogil:
    ctypedef struct ThreadState "AutogradThreadState":
        int mode
        unsigned long long sequence_nr
        void *graph_task
        void *node
    const bint DEBUG "AUTOGRAD_CY_DEBUG"

cdef enum:
    NO_GRAD = 1       # nothing is recorded
    FORWARD_AD = 2    # a dual level is open: tangents are carried along

cdef ThreadState *thread_state() noexcept nogil
