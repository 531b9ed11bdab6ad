"""The state of a thread: modes, the user's place in the code, live objects, faults for tests, nested engines."""

from cpython.object cimport PyObject

from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, take_over

# in state.pyx

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

# in faults.pyx

cdef extern from "numpy/ndarraytypes.h":     # how NumPy allocates the memory of its arrays
    ctypedef struct Allocator "PyDataMemAllocator":
        void *ctx
        void *(*malloc)(void *, size_t) noexcept
        void *(*calloc)(void *, size_t, size_t) noexcept
        void *(*realloc)(void *, void *, size_t) noexcept
        void (*free)(void *, void *, size_t) noexcept
    ctypedef struct Handler "PyDataMem_Handler":
        char name[127]
        unsigned char version
        Allocator allocator

cdef bint deny() noexcept nogil
cdef bint armed() noexcept nogil


cdef inline bint is_denied() noexcept nogil:
    """Whether an allocation outside of Python's allocators must fail."""
    return DEBUG and deny()

cdef inline bint serves_again() noexcept nogil:
    """Whether dead objects may be reused: not while allocations are counted, because reuse would save some."""
    return not DEBUG or not armed()

# in modes.pyx
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

# in inference.pyx
cdef inline bint in_inference_mode() noexcept:
    return current_mode() & INFERENCE != 0

cdef int check_write(bint inference, str operation) except -1
cdef object save_error(object node)
cdef object version_error()
cdef object flag_error()

# in lifetime.pyx

cdef extern from "Python.h":
    void PyObject_ClearWeakRefs(PyObject *)
    void PyObject_GC_UnTrack(PyObject *)

cdef enum:
    TENSOR = 0
    NODE = 1

cdef struct Link:
    Link *previous     # NULL once the collector tracks the owner (without a GIL, always)
    Link *next
    Link *next_dead    # the list of `release`

cdef void unwatch(Link *link, int kind) noexcept


cdef inline PyObject *owner_of(Link *link) noexcept nogil:
    """The object whose first field, after its head and its table of methods, is the Link."""
    return <PyObject *> (<char *> link - sizeof(PyObject) - sizeof(void *))

cdef enum:
    MAX_SPARES = 32768

cdef struct Spares:    # dead objects of one type kept for reuse, see NOTE [Spares]
    PyObject *objects[MAX_SPARES]
    int n

cdef inline void hide(Link *link) noexcept:
    """Hide an object from the collector, which tracks all objects of compiled classes at first; may be repeated."""
    PyObject_GC_UnTrack(owner_of(link))

cdef void watch(Link *link, int kind) noexcept
cdef void release(Link *link) noexcept

# The life of an object: its tp_dealloc calls `begin_death` and releases its fields; then the object becomes a spare or is
# freed. `revived` returns a spare for reuse.

ctypedef void (*Destructor)(PyObject *) noexcept


cdef inline void begin_death(PyObject *self, Link *link, int kind, void *weak_references) noexcept:
    """The first step of tp_dealloc; later steps may add and drop references."""
    if weak_references != NULL:
        PyObject_ClearWeakRefs(self)
    take_over(self, 1)
    hide(link)
    if DEBUG or not FREE_THREADED:
        unwatch(link, kind)


cdef inline void end_life(PyObject *self, Destructor compiled_dealloc) noexcept:
    """Free an object as Cython does."""
    take_over(self, 0)
    compiled_dealloc(self)


cdef inline void lay_aside(PyObject *self, Spares *spares, Destructor compiled_dealloc) noexcept:
    """Keep a dead, hidden object whose fields are all None as a spare; free it if there are enough."""
    if (FREE_THREADED and spares == NULL) or spares.n == MAX_SPARES:
        end_life(self, compiled_dealloc)
        return
    spares.objects[spares.n] = self
    spares.n += 1


cdef inline PyObject *revived(Spares *spares) noexcept:
    """A spare, which has no reference yet; NULL if there is none."""
    if (FREE_THREADED and spares == NULL) or spares.n == 0 or not serves_again():
        return NULL
    spares.n -= 1
    take_over(spares.objects[spares.n], 0)
    return spares.objects[spares.n]


cdef inline void drop_all(Spares *spares, Destructor compiled_dealloc) noexcept:
    if FREE_THREADED and spares == NULL:
        return
    while spares.n > 0:
        spares.n -= 1
        end_life(spares.objects[spares.n], compiled_dealloc)

# in own.pyx

cdef extern from "own.h":
    enum:
        TENSORS "AUTOGRAD_CY_TENSORS"
        NODES "AUTOGRAD_CY_NODES"
        ARRAYS "AUTOGRAD_CY_ARRAYS"
        CODES "AUTOGRAD_CY_CODES"
        NUMBERS "AUTOGRAD_CY_NUMBERS"
        STORES "AUTOGRAD_CY_STORES"
    void *store_here "autograd_cy_store_here"

ctypedef void (*Emptier)(void *store) noexcept

cdef void declare_store(int kind, size_t size, Emptier emptier) noexcept
cdef void *own_store(int kind) noexcept

cdef void *find_store(int kind, void **here) noexcept


cdef inline void *declared_store(int kind) noexcept:
    """`own_store` for the declaring module, which avoids the call after the first time."""
    return store_here if store_here != NULL else find_store(kind, &store_here)

# in location.pyx
cdef object here(int *instruction)
cdef int frames_here(PyObject **codes, int *instructions, int most) noexcept
cdef tuple place_of(object code, int instruction)
cdef str described(object code, int instruction)
cdef str PACKAGE                # the folder of autograd_cy

# in recursion.pyx
cdef bint has_room() noexcept
cdef int check_room() except -1
cdef int deepest_backward() noexcept

# in reentry.pyx
ctypedef int (*TakeTurn)() except -1
cdef TakeTurn turn_taker        # engine/parallel_walk.pyx sets it while a parallel walk runs; else NULL

cdef ThreadState travelling(ThreadState *state) noexcept
cpdef int take_turn() except -1
cdef int in_fresh_thread(object function, tuple arguments) except -1
