"""What belongs to a thread: its modes and its counters."""

cdef extern from "state.h" nogil:
    ctypedef struct ThreadState "AutogradThreadState":
        int mode
        unsigned long long sequence_nr
        void *graph_task
        void *node
    const bint DEBUG "AUTOGRAD_CY_DEBUG"

cdef enum:
    NO_GRAD = 1         # nothing is recorded
    FORWARD_AD = 2      # a dual level is open: tangents are carried along
    INFERENCE = 4       # results are inference tensors
    ANOMALY = 8         # nodes note where they were recorded, gradients are checked
    SAVED_HOOKS = 16    # what is saved goes through pack hooks
    OP_HOOKS = 32       # a global hook sees each operation
    GUARDED = 64        # saved arrays are made read-only
    IN_CONTEXT = 128    # a mode may belong to another asyncio task: ask the context first

cdef ThreadState *thread_state() noexcept nogil
