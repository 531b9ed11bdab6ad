"""The state of a thread: its modes and its counters."""

cdef extern from "state.h" nogil:
    ctypedef struct ThreadState "AutogradThreadState":
        int mode
        unsigned long long sequence_nr
        void *graph_task
        void *node
        int own, base, hidden
        unsigned long long since, version, thread
        void *settings
        void *hooks_before
        void *dual_levels
        unsigned long long hidden_levels
        void *ring
        void *batch_level
    const bint DEBUG "AUTOGRAD_CY_DEBUG"

cdef enum:
    NO_GRAD = 1         # nothing is recorded
    FORWARD_AD = 2      # a dual level is open: tangents are computed
    INFERENCE = 4       # results are inference tensors
    ANOMALY = 8         # nodes record their stack traces, gradients are checked
    SAVED_HOOKS = 16    # saved tensors go through pack hooks
    OP_HOOKS = 32       # a global hook sees each operation
    GUARDED = 64        # saved arrays are made read-only
    IN_CONTEXT = 128    # a mode may belong to another asyncio task: check the context first, see modes.pyx
    KEEP_NAN = 256      # anomaly mode doesn't look for NaN
    DETECT_NAN = 512    # results and gradients are searched for NaN, without stack traces
    ONE_THREAD = 1024   # set_multithreading_enabled(False)
    REPLAY_VIEWS = 2048     # _force_original_view_tracking(True)
    ANY_LAYOUT = 4096   # enforce_grad_layout_policy(False)
    BATCHED = 16384     # within vmap: an operand may be a BatchedTensor
    KEEP_ZEROS = 32768  # safe_where(): a gradient of 0 contributes 0, even where a derivative is infinite
    NODE_HOOKS = 65536  # hooks see each node that is recorded
    NO_FORWARD = 8192   # _set_fwd_grad_enabled(False): no tangents, even if a dual level is open
    # modes of a context rather than of the thread
    CONTEXT_MODES = (NO_GRAD | INFERENCE | ANOMALY | SAVED_HOOKS | GUARDED | KEEP_NAN | DETECT_NAN | ONE_THREAD | REPLAY_VIEWS
                     | ANY_LAYOUT | NO_FORWARD | KEEP_ZEROS)
    # modes that operations ignore: with only these they take the usual path
    ASIDE = IN_CONTEXT | KEEP_NAN | ONE_THREAD | REPLAY_VIEWS | ANY_LAYOUT | NO_FORWARD | KEEP_ZEROS

cdef ThreadState *thread_state() noexcept nogil
