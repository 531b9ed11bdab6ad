"""Recorded events of operations and nodes, in a ring for each thread."""

from cpython.object cimport PyObject

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport Spin, load_number, peek_int
from autograd_cy._core.runtime.state cimport thread_state

# in rings.pyx

cdef extern from "events.h":
    ctypedef struct Event "AutogradEvent":
        unsigned long long start, end, sequence_nr
        PyObject *what
        PyObject *code
        int instruction
        unsigned int n_nodes, parent, details, result
        unsigned char kind, n_operands, n_frames

    ctypedef struct Ring "AutogradRing":
        Event *events
        Py_ssize_t size, capacity, open
        long long *details
        Py_ssize_t details_size, details_capacity
        unsigned long long dropped, undescribed, epoch
        unsigned long ident
        PyObject *name
        bint has_thread
        Ring *next

    unsigned long long ticks "autograd_cy_ticks"() nogil

cdef enum:
    CAPACITY = 1 << 18              # default number of events of a thread

cdef struct Allocation:             # a block of the pool was taken or returned
    unsigned long long when
    Ring *ring
    Py_ssize_t event                # index of the innermost open event plus one; 0: none
    void *address
    long long nbytes

cdef Spin *ring_lock                # of rings and their contents, where there is no GIL
cdef unsigned long long epoch       # of the current recording
cdef unsigned long long lost        # events of threads that have no ring for lack of memory

# of this thread
cdef int make_room(Py_ssize_t n) except -1

cdef Ring *prepared_ring() noexcept


cdef inline Ring *current_ring() noexcept:
    """The ring for this thread's events; NULL if there is no memory for one."""
    cdef Ring *ring = <Ring *> thread_state().ring
    if ring == NULL or ring.epoch != load_number(&epoch):
        return prepared_ring()
    return ring

# of all threads
cdef void rely_on_rings() noexcept
cdef void need_rings_no_more() noexcept
cdef Ring *first_ring() noexcept
cdef bint is_filled(Ring *ring) noexcept
cdef Ring state_of(Ring *ring) noexcept
cdef Event event_at(Ring *ring, Py_ssize_t i) noexcept
cdef object name_of_thread(Ring *ring)
cdef Py_ssize_t count_allocations() noexcept
cdef Allocation allocation_at(Py_ssize_t i) noexcept

# in events.pyx

cdef extern from "events.h":
    ctypedef struct Span "AutogradSpan":
        Ring *ring
        Py_ssize_t place
        unsigned long long epoch

cdef enum:                  # kinds of events
    OPERATION, BACKWARD, ENGINE, FUNCTION, HOOK, REGION, THREADS

cdef enum:                  # what is recorded besides events
    SHAPES = 1
    STACKS = 2
    MEMORY = 4

cdef int recording          # number of active Recorders
cdef int options            # options of all active Recorders

cdef dict public_names      # function -> its public name, if that is not its own

cdef inline bint recorders_on() noexcept nogil:
    """Whether any Recorder is on; must be checked before an event is recorded."""
    return peek_int(&recording) != 0


cdef Span begin(int kind, PyObject *what) noexcept
cdef Span begin_node(PyObject *what, object code, int instruction, unsigned long long sequence_nr) noexcept
cdef void end(Span span) noexcept
cdef Span begin_named(int kind, str name) noexcept
cdef void note_what_followed(Span span, str name) noexcept
cdef Span begin_loop() noexcept with gil
cdef void end_loop(Span span) noexcept with gil
cdef void note_operand(Span span, cnp.ndarray array) noexcept
cdef void note_result(Span span, cnp.ndarray array) noexcept
cdef void note_memory(void *address, long long nbytes) noexcept
