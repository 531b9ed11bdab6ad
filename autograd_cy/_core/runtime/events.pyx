"""Events of a program while it is recorded: calls of operations, nodes that run, phases of the engine, regions of the user.

NOTE [Recording events]
  1. Who has an event to tell asks `recorders_on()` first, where a test costs nothing beside what is told; calls of operations
     are not even asked: `watch_calls` puts an entry of its own before them as long as somebody records.
  2. An event is a C struct in the ring of its thread, written with the GIL held (without one: the lock), and timed by two
     looks at the processor's counter. Names, lines and types are pointers until somebody reads them.
  3. A ring that is full takes no more events and counts those that it lost; what is in it stays whole.
  4. The event around an event is the one that was open when it began. One that an error left open ends with the one around it,
     and who ends it after that ends nothing. Nor do times that go back from one core to another put an event outside.
  5. Recorders may overlap, and each gets a copy of what happened between its start and its stop, in all threads. With the last
     one rings are emptied (`epoch`): who ends an event after that ends nothing. A Recorder that nobody holds any more stops.
  6. A thread gets a ring with its first event. It keeps it until it ends, and events that nobody has read yet longer.
  7. What events hold is given up by way of other people's code (`__del__`, callbacks of weak references), which may record,
     too, and let other threads run. So does reading. `users` counts who relies on rings meanwhile: none is freed or emptied.
"""

import sys
from time import perf_counter_ns

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_XDECREF, Py_XINCREF
from libc.string cimport memset

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport (
    FREE_THREADED, Hold, Spin, add_int, add_number, hold, let_go, load_number, peek_int, peek_size, spin, store_int,
    store_size, unspin)
from autograd_cy._core.runtime.location cimport frames_here, here, place_of
from autograd_cy._core.runtime.state cimport ThreadState, thread_state

from autograd_cy._core.runtime.raw_events import Array, Frame, RawAllocation, RawEvent

cnp.import_array()

cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()
    unsigned long PyThread_get_thread_ident()
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **)
    void PyErr_Restore(PyObject *, PyObject *, PyObject *)
    object new_tuple "PyTuple_Type.tp_new"(PyTypeObject *, object, PyObject *)

cdef extern from "numpy/arrayobject.h":
    cnp.dtype PyArray_DescrFromType(int)

cdef enum:
    MAX_FRAMES = 32
    LONG = 2000                 # ticks, about a microsecond
    DETAILS = 8                 # numbers that describe an event's operands, stack and result, on the average
    CAPACITY = 1 << 18          # events of a thread, unless somebody asks for more ...
    MOST = 1 << 28              # ... and no more than this: places of their details are 32 bits wide
    N_OPTIONS = 3

cdef struct Stack:
    PyObject *codes[MAX_FRAMES]
    int instructions[MAX_FRAMES]
    int n

cdef struct Allocation:
    unsigned long long when
    Ring *ring
    Py_ssize_t event            # one more than the place of the innermost open event; 0: none was
    void *address
    long long nbytes

cdef tuple KINDS = ("op", "backward", "engine", "function", "hook", "region", "threads")
cdef tuple IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor")

cdef extern from "fork_lock.h":
    Spin lock "autograd_cy_lock"    # of rings and what they hold, and of blocks of the pool, where there is no GIL
    void watch_forks "autograd_cy_watch_forks"()

watch_forks()                       # a child begins with the lock open, and what it protects whole

cdef object switch = object()   # the lock of those who start and stop to record
cdef Ring *rings = NULL
cdef unsigned long long epoch = 1
cdef Py_ssize_t capacity = CAPACITY
cdef Allocation *allocations = NULL
cdef Py_ssize_t n_allocations = 0, allocations_size = 0
cdef int users = 0              # who relies on what rings hold: Recorders that are on or read, and who empties rings
cdef int[N_OPTIONS] n_wanted    # how many Recorders want each of the options
cdef unsigned long long lost = 0        # events of threads for whose ring there was no memory
cdef dict described = {}        # number of a NumPy type -> its name and size
cdef dict public_names = {}     # of functions that users know by another name than their own


# what happens while somebody records

cdef Span begin(int kind, PyObject *what) noexcept:
    """An event that the user's code began, where it stands now."""
    cdef Stack stack
    cdef Span span
    cdef int instruction = 0
    code = here(&instruction)           # before there is an event: to look may give up code, which may run other code
    stack.n = 0
    if peek_int(&options) & STACKS and code is not None:
        stack.n = frames_here(stack.codes, stack.instructions, MAX_FRAMES)
    span = new_event(kind, what)
    note_start(span, code, instruction, &stack, thread_state().sequence_nr)
    return span


cdef inline void note_start(Span span, object code, int instruction, Stack *stack, unsigned long long sequence_nr) noexcept:
    """Where an event began (`stack`: the frames that were running, or NULL), and when: now."""
    cdef Event *event
    spin(&lock)
    if is_there(span):
        event = &span.ring.events[span.place]
        if code is not None:
            Py_INCREF(code)
            event.code = <PyObject *> code
            event.instruction = instruction
            if stack != NULL and stack.n:
                note_stack(span.ring, event, stack)
        event.sequence_nr = sequence_nr
        event.start = ticks()
    unspin(&lock)


cdef Span begin_named(int kind, str name) noexcept:
    return begin(kind, <PyObject *> name)


cdef Span begin_node(PyObject *what, object code, int instruction, unsigned long long sequence_nr) noexcept:
    """The engine runs a node that was recorded at that place."""
    cdef Span span = new_event(BACKWARD, what)
    note_start(span, code, instruction, NULL, sequence_nr)
    return span


cdef inline bint is_there(Span span) noexcept:
    """Whether its ring still holds the event; if not, the ring may have been freed."""
    return span.ring != NULL and span.epoch == epoch


cdef inline bint is_open(Span span) noexcept:
    """Whether an event that is there is the innermost open one, or around that."""
    cdef Py_ssize_t open = span.ring.open
    while open > span.place + 1:
        open = span.ring.events[open - 1].parent
    return open == span.place + 1


cdef void end(Span span) noexcept:
    cdef Event *event
    spin(&lock)
    if is_there(span) and is_open(span):
        event = &span.ring.events[span.place]
        event.end = ticks()
        if event.kind != BACKWARD and span.ring == <Ring *> thread_state().ring:     # else the numbers are another thread's
            event.n_nodes = thread_state().sequence_nr - event.sequence_nr
        span.ring.open = event.parent
    unspin(&lock)


cdef void note_what_followed(Span span, str name) noexcept:
    """What has been done since an event's end is one of its own, if it took long enough to be seen."""
    cdef unsigned long long start = 0, now = ticks()
    cdef Event *event
    spin(&lock)
    if is_there(span):
        start = span.ring.events[span.place].end
    unspin(&lock)
    if start == 0 or now - start < LONG:
        return
    span = new_event(ENGINE, <PyObject *> name)
    spin(&lock)
    if is_there(span):
        event = &span.ring.events[span.place]
        event.sequence_nr = 0
        event.start, event.end = start, now
        span.ring.open = event.parent
    unspin(&lock)


cdef inline Span new_event(int kind, PyObject *what) noexcept:
    """An event without time or place, the innermost open one now; no ring: there was no room, or nobody records any more."""
    cdef Ring *ring = <Ring *> thread_state().ring
    cdef Span span
    if not recorders_on():          # any longer: who walks a graph has asked when that began
        return Span(NULL, 0, 0)
    if ring == NULL or ring.epoch != load_number(&epoch):
        ring = prepared_ring()
    if ring == NULL:
        add_number(&lost, 1)
        return Span(NULL, 0, 0)
    spin(&lock)
    span = next_event(ring, kind, what)
    unspin(&lock)
    return span


cdef inline Span next_event(Ring *ring, int kind, PyObject *what) noexcept:
    """`new_event`, with the lock held."""
    cdef Event *event
    if ring.size == ring.capacity:
        ring.dropped += 1
        return Span(NULL, 0, 0)
    event = &ring.events[ring.size]
    Py_INCREF(<object> what)
    event.what = what
    event.kind = kind
    event.parent = ring.open
    event.code = NULL
    event.end = 0
    event.n_nodes = event.details = event.result = 0
    event.n_operands = event.n_frames = 0
    ring.size += 1
    ring.open = ring.size
    return Span(ring, ring.size - 1, epoch)


cdef void note_stack(Ring *ring, Event *event, Stack *stack) noexcept:
    """The frames of the user's code that are running."""
    cdef int k
    if ring.details_size + 2 * stack.n > ring.details_capacity:
        ring.undescribed += 1
        return
    event.details = ring.details_size + 1
    event.n_frames = stack.n
    for k in range(stack.n):
        Py_XINCREF(stack.codes[k])
        ring.details[ring.details_size] = <long long> stack.codes[k]
        ring.details[ring.details_size + 1] = stack.instructions[k]
        ring.details_size += 2


cdef void note_operand(Span span, cnp.ndarray array) noexcept:
    """An operand of an event that has just begun."""
    cdef Ring *ring = span.ring
    cdef Event *event
    cdef unsigned int place
    spin(&lock)
    if is_there(span) and ring.events[span.place].n_operands < 255:
        event = &ring.events[span.place]
        place = describe(ring, array)
        if place:
            event.details = event.details or place
            event.n_operands += 1
    unspin(&lock)


cdef void note_result(Span span, cnp.ndarray array) noexcept:
    spin(&lock)
    if is_there(span):
        span.ring.events[span.place].result = describe(span.ring, array)
    unspin(&lock)


cdef unsigned int describe(Ring *ring, cnp.ndarray array) noexcept:
    """Note an array's type and layout; returns one more than where, or 0 if there is no room."""
    cdef int ndim = cnp.PyArray_NDIM(array), axis
    cdef long long *place = ring.details + ring.details_size
    if ring.details_size + 2 + 2 * ndim > ring.details_capacity:
        ring.undescribed += 1
        return 0
    place[0] = ndim | cnp.PyArray_TYPE(array) << 8 | <long long> cnp.PyArray_FLAGS(array) << 16
    place[1] = <long long> <size_t> cnp.PyArray_DATA(array)
    for axis in range(ndim):
        place[2 + axis] = cnp.PyArray_DIM(array, axis)
        place[2 + ndim + axis] = cnp.PyArray_STRIDE(array, axis)
    ring.details_size += 2 + 2 * ndim
    return ring.details_size - 1 - 2 * ndim


cdef void note_memory(void *address, long long nbytes) noexcept:
    """A block of the pool went out, or came back (negative)."""
    global allocations, allocations_size, n_allocations
    cdef Allocation *grown
    cdef Ring *ring = <Ring *> thread_state().ring
    if not peek_int(&options) & MEMORY:
        return
    if ring == NULL or ring.epoch != load_number(&epoch):
        ring = prepared_ring()
    spin(&lock)
    if n_allocations == allocations_size:
        grown = <Allocation *> PyMem_RawRealloc(allocations, (2 * allocations_size + 1024) * sizeof(Allocation))
        if grown != NULL:
            allocations, allocations_size = grown, 2 * allocations_size + 1024
    if n_allocations < allocations_size:
        allocations[n_allocations] = Allocation(ticks(), ring, 0 if ring == NULL else ring.open, address, nbytes)
        n_allocations += 1
    unspin(&lock)


cdef Span begin_loop() noexcept with gil:
    """A loop is shared among threads; its caller may hold the GIL or not."""
    return begin_named(THREADS, "shared loop")


cdef void end_loop(Span span) noexcept with gil:
    end(span)


# rings

@cython.final
cdef class RingOwner:
    """Stands in the dict of Python's thread, and dies with that; the system's thread may live on, and get another."""
    cdef Ring *ring

    def __dealloc__(self):
        if self.ring != NULL:
            spin(&lock)
            self.ring.has_thread = False
            unspin(&lock)
            if thread_state().ring == <void *> self.ring:
                thread_state().ring = NULL
            free_dead_rings()


cdef Ring *prepared_ring() noexcept:
    """This thread's ring, empty; NULL if there is no memory. An exception may be on its way meanwhile: it stays so."""
    cdef ThreadState *state = thread_state()
    cdef Ring *ring = <Ring *> state.ring
    cdef PyObject *error = NULL
    cdef PyObject *value = NULL
    cdef PyObject *trace = NULL
    PyErr_Fetch(&error, &value, &trace)
    try:
        if ring == NULL:
            ring = new_ring()
            state.ring = ring
        empty(ring)
        give_name(ring)
        spin(&lock)
        ring.epoch = epoch
        unspin(&lock)
    except BaseException:           # nothing is noted of this thread
        ring = NULL
    PyErr_Restore(error, value, trace)
    return ring


cdef Ring *new_ring() except NULL:
    """A ring that the thread's dict holds."""
    global rings
    cdef RingOwner owner = RingOwner.__new__(RingOwner)
    cdef PyObject *entries = PyThreadState_GetDict()
    cdef Ring *ring
    if entries == NULL:
        raise MemoryError()
    (<dict> entries)["autograd_cy.events"] = owner
    ring = <Ring *> PyMem_RawCalloc(1, sizeof(Ring))
    if ring == NULL:
        raise MemoryError()
    ring.ident = PyThread_get_thread_ident()
    ring.has_thread = True
    spin(&lock)
    ring.next, rings = rings, ring
    unspin(&lock)
    owner.ring = ring
    return ring


cdef int empty(Ring *ring) except -1:
    """Forget a ring's events, and see that it has the room that is asked for."""
    cdef Py_ssize_t wanted = <Py_ssize_t> peek_size(<size_t *> &capacity)
    cdef Event *events
    cdef long long *details
    forget(ring)
    if ring.capacity == wanted:
        return 0
    give_room(ring, NULL, NULL, 0)
    events = <Event *> PyMem_RawMalloc(wanted * sizeof(Event))
    details = <long long *> PyMem_RawMalloc(wanted * DETAILS * sizeof(long long))
    if events == NULL or details == NULL:
        PyMem_RawFree(events)
        PyMem_RawFree(details)
        raise MemoryError()
    give_room(ring, events, details, wanted)
    return 0


cdef void give_room(Ring *ring, Event *events, long long *details, Py_ssize_t n) noexcept:
    """Let a ring without events have this memory, for `n` of them, in the place of what it has."""
    cdef Ring old
    spin(&lock)
    old = ring[0]
    ring.events, ring.details = events, details
    ring.capacity, ring.details_capacity = n, n * DETAILS
    unspin(&lock)
    PyMem_RawFree(old.events)
    PyMem_RawFree(old.details)


cdef int give_name(Ring *ring) except -1:
    """Note the thread's name. threading's functions are not called: they take locks, and make unknown threads known."""
    cdef object name = "MainThread", threading = sys.modules.get("threading")
    cdef PyObject *before
    if threading is not None:
        thread = threading._active.get(PyThread_get_thread_ident())
        name = f"thread {ring.ident}" if thread is None else thread._name
    Py_INCREF(name)
    spin(&lock)
    before, ring.name = ring.name, <PyObject *> name
    unspin(&lock)
    Py_XDECREF(before)
    return 0


cdef void forget_events(Event *events, Py_ssize_t n, long long *details) noexcept:
    """Give up what events hold."""
    cdef Py_ssize_t i
    cdef int k
    for i in range(n):
        Py_XDECREF(events[i].what)
        Py_XDECREF(events[i].code)
        for k in range(events[i].n_frames):
            Py_XDECREF(<PyObject *> details[events[i].details - 1 + 2 * k])


cdef void forget(Ring *ring) noexcept:
    """Empty a ring. While other people's code runs, it has no events, and no room: case 7."""
    cdef Ring old
    spin(&lock)
    old = ring[0]
    ring.open = ring.size = ring.details_size = 0
    ring.dropped = ring.undescribed = 0
    if old.size:
        ring.events, ring.details = NULL, NULL
        ring.capacity = ring.details_capacity = 0
    unspin(&lock)
    if old.size == 0:
        return
    forget_events(old.events, old.size, old.details)
    spin(&lock)
    if ring.events == NULL:
        ring.events, ring.capacity = old.events, old.capacity
        ring.details, ring.details_capacity = old.details, old.details_capacity
        old.events, old.details = NULL, NULL
    unspin(&lock)
    PyMem_RawFree(old.events)
    PyMem_RawFree(old.details)


cdef void forget_all() noexcept:
    """The last Recorder has stopped: empty all rings. Those of living threads keep their memory for the next one."""
    start_epoch()
    while not peek_int(&users) and has_events():
        start_epoch()
    free_dead_rings()


cdef bint has_events() noexcept:
    cdef Ring *ring
    spin(&lock)
    ring = rings
    while ring != NULL and ring.size == 0:
        ring = ring.next
    unspin(&lock)
    return ring != NULL


cdef void rely_on_rings() noexcept:
    """One user more: case 7. With the lock held, under which rings are freed."""
    spin(&lock)
    add_int(&users, 1)
    unspin(&lock)


cdef Ring *first_ring() noexcept:
    """The list of rings as it is now. Its caller relies on them."""
    cdef Ring *ring
    spin(&lock)
    ring = rings
    unspin(&lock)
    return ring


cdef bint is_filled(Ring *ring) noexcept:
    """Whether what a ring holds was recorded by those who record now."""
    cdef bint filled
    spin(&lock)
    filled = ring.epoch == epoch
    unspin(&lock)
    return filled


cdef void start_epoch() noexcept:
    """Empty all rings, but those into which somebody records again meanwhile."""
    global epoch, n_allocations
    cdef Ring *ring
    spin(&lock)
    add_number(&epoch, 1)
    n_allocations = 0
    unspin(&lock)
    rely_on_rings()
    ring = first_ring()
    while ring != NULL:
        if not is_filled(ring):
            forget(ring)
        ring = ring.next
    add_int(&users, -1)


cdef void free_dead_rings() noexcept:
    """Free the rings of threads that have ended, unless somebody records or reads. So they are empty."""
    cdef Ring *ring = dead_ring()
    while ring != NULL:
        Py_XDECREF(ring.name)
        PyMem_RawFree(ring.events)
        PyMem_RawFree(ring.details)
        PyMem_RawFree(ring)
        ring = dead_ring()


cdef Ring *dead_ring() noexcept:
    """One of them, off the list, or NULL."""
    cdef Ring **place = &rings
    cdef Ring *ring
    spin(&lock)
    while place[0] != NULL and (place[0].has_thread or place[0].size):
        place = &place[0].next
    ring = NULL if peek_int(&users) else place[0]
    if ring != NULL:
        place[0] = ring.next
    unspin(&lock)
    return ring


# reading

@cython.final
cdef class Known:
    """What is made once while events are read: by content, for most events have it in common with others."""
    cdef dict names             # address of a function or class -> its name
    cdef dict frames            # (address of the code object, instruction) -> Frame
    cdef dict stacks            # the numbers that describe what is made, as bytes, here and below
    cdef dict arrays
    cdef dict operands

    def __cinit__(self):
        self.names, self.frames, self.stacks, self.arrays, self.operands = {}, {}, {}, {}, {}


@cython.final
cdef class Recorder:
    """Recorder(shapes=False, stack=False, memory=False, capacity=0): what happens between start() and stop(), in all threads.

    `shapes`: operands and results are described. `stack`: with all frames, not the innermost alone. `memory`: blocks of the
    pool. `capacity`: events of a thread, at least; 262144 if it is 0.
    """
    cdef readonly list threads
    cdef readonly unsigned long long dropped        # events for which there was no room
    cdef readonly unsigned long long undescribed    # shapes and stacks for which there was none
    cdef readonly unsigned long long start_time, stop_time      # ns of time.perf_counter_ns()
    cdef unsigned long long start_ticks, stop_ticks, lost_before
    cdef int options
    cdef Py_ssize_t capacity, first_allocation
    cdef dict begun             # ring -> its size, at the start
    cdef list found, memory_found
    cdef int is_on, is_read

    def __cinit__(self):
        self.capacity, self.threads = CAPACITY, []

    def __init__(self, bint shapes=False, bint stack=False, bint memory=False, Py_ssize_t capacity=0):
        if capacity < 0 or capacity > MOST:
            raise ValueError(f"capacity must be a number of events, {MOST} at most, got {capacity}")
        self.check_is_off()
        self.options = (SHAPES if shapes else 0) | (STACKS if stack else 0) | (MEMORY if memory else 0)
        self.capacity = capacity or CAPACITY
        self.prepare()

    def __dealloc__(self):
        if self.is_on:
            self.turn_off()
            self.leave()

    cdef int check_is_off(self) except -1:
        if peek_int(&self.is_on) or peek_int(&self.is_read):
            raise RuntimeError("the Recorder is on already")
        return 0

    cdef int prepare(self) except -1:
        """Get this thread's ring ready. Touching its pages takes some milliseconds, now and not while events are timed."""
        cdef Ring *ring = <Ring *> thread_state().ring
        cdef Py_ssize_t before = 0 if ring == NULL else ring.capacity
        if not peek_int(&users):
            store_size(<size_t *> &capacity, <size_t> self.capacity)
        if ring == NULL or ring.epoch != load_number(&epoch) or (not peek_int(&users) and before != self.capacity):
            ring = prepared_ring()
            if ring == NULL:
                raise MemoryError(f"no memory for {self.capacity} events")
        if ring.capacity != before:
            memset(ring.events, 0, ring.capacity * sizeof(Event))
            memset(ring.details, 0, ring.details_capacity * sizeof(long long))
        return 0

    def start(self):
        """start(): record from now on. RuntimeError if it does already."""
        cdef unsigned long long start_time, start_ticks
        cdef dict begun
        self.check_is_off()
        self.prepare()
        rely_on_rings()
        try:
            begun = sizes_of_rings()
            start_time, start_ticks = perf_counter_ns(), ticks()
            if not recorders_on():
                watch_calls(True)
            self.turn_on(begun, start_time, start_ticks)
        except BaseException:
            self.leave()
            raise

    cdef int turn_on(self, dict begun, unsigned long long start_time, unsigned long long start_ticks) except -1:
        cdef Hold section
        hold(&section, <PyObject *> switch)
        try:
            self.check_is_off()         # by now another thread may have started it
            self.begun, self.start_time, self.start_ticks = begun, start_time, start_ticks
            self.found = self.memory_found = None
            spin(&lock)
            self.first_allocation = n_allocations
            unspin(&lock)
            self.lost_before = load_number(&lost)
            store_int(&self.is_on, True)
            add_int(&recording, 1)
            want(self.options, 1)
            if FREE_THREADED:
                watch_calls(True)       # another thread may have stopped the last Recorder since
        finally:
            let_go(&section)
        return 0

    cdef void turn_off(self) noexcept:
        """Record no more. What rings hold stays until `leave`."""
        cdef Hold section
        hold(&section, <PyObject *> switch)
        store_int(&self.is_on, False)
        add_int(&recording, -1)
        want(self.options, -1)
        if not recorders_on():
            watch_calls(False)
        let_go(&section)

    cdef void leave(self) noexcept:
        if add_int(&users, -1) == 0:
            forget_all()

    def stop(self):
        """stop(): record no more, and read what was recorded. RuntimeError if it is not on; off it is in any case."""
        if not peek_int(&self.is_on):
            raise RuntimeError("the Recorder is not on")
        self.turn_off()
        store_int(&self.is_read, True)
        try:
            self.stop_ticks, self.stop_time = ticks(), perf_counter_ns()
            read(self)
        finally:
            store_int(&self.is_read, False)
            self.leave()

    def events(self):
        """events() -> list of RawEvent: by thread, and in each in the order in which they began."""
        return self.found

    def memory(self):
        """memory() -> list of RawAllocation, in their order."""
        return self.memory_found

    cdef long long time_of(self, unsigned long long when) noexcept:
        """Nanoseconds of time.perf_counter_ns()."""
        cdef double rate = 1.0
        if self.stop_ticks > self.start_ticks:
            rate = <double> (self.stop_time - self.start_time) / <double> (self.stop_ticks - self.start_ticks)
        return <long long> self.start_time + <long long> (<double> (<long long> (when - self.start_ticks)) * rate)


cdef void want(int wanted, int change) noexcept:
    """One Recorder more, or less, wants these options."""
    cdef int k, all_wanted = 0
    for k in range(N_OPTIONS):
        if wanted >> k & 1:
            n_wanted[k] += change
        if n_wanted[k]:
            all_wanted |= 1 << k
    store_int(&options, all_wanted)


cdef dict sizes_of_rings():
    """What there is in rings before a Recorder starts."""
    cdef dict sizes = {}
    cdef Ring *ring = first_ring()
    cdef Ring now
    while ring != NULL:
        if is_filled(ring):
            now = state_of(ring)
            sizes[<size_t> ring] = (now.size, now.dropped, now.undescribed)
        ring = ring.next
    return sizes


cdef Ring state_of(Ring *ring) noexcept:
    """A ring as it is now, while its thread goes on."""
    cdef Ring now
    spin(&lock)
    now = ring[0]
    unspin(&lock)
    return now


cdef object name_of_thread(Ring *ring):
    cdef PyObject *name
    spin(&lock)
    name = ring.name
    Py_XINCREF(name)
    unspin(&lock)
    kept = <object> name
    Py_XDECREF(name)
    return kept


cdef int read(Recorder recorder) except -1:
    """Make Python objects of what was recorded."""
    cdef Ring *ring = first_ring()
    cdef list own = [], others = []
    recorder.found, recorder.memory_found, recorder.threads = [], [], []
    recorder.dropped, recorder.undescribed = load_number(&lost) - recorder.lost_before, 0
    while ring != NULL:
        if is_filled(ring):
            (own if ring == <Ring *> thread_state().ring else others).append(<size_t> ring)
        ring = ring.next
    offsets = {}
    known = Known.__new__(Known)
    for place in own + others[::-1]:
        read_ring(recorder, <Ring *> <size_t> place, offsets, known)
    read_allocations(recorder, offsets)
    return 0


cdef int read_ring(Recorder recorder, Ring *ring, dict offsets, Known known) except -1:
    """Add the events of one thread."""
    cdef Ring now = state_of(ring)
    cdef Py_ssize_t first, i, dropped, undescribed, n = now.size
    cdef long long parent, earliest = recorder.start_time
    cdef Event event
    cdef int thread = len(recorder.threads)
    cdef Py_ssize_t offset = len(recorder.found)
    cdef list found = recorder.found
    first, dropped, undescribed = recorder.begun.get(<size_t> ring, (0, 0, 0))
    recorder.dropped += now.dropped - dropped
    recorder.undescribed += now.undescribed - undescribed
    recorder.threads.append((ring.ident, name_of_thread(ring)))
    offsets[<size_t> ring] = (thread, offset - first, first)
    while n > first and event_at(&now, n - 1).start > recorder.stop_ticks:
        n -= 1                  # another Recorder goes on
    for i in range(first, n):
        event = event_at(&now, i)
        parent = <long long> event.parent - 1
        parent = -1 if parent < first else parent - first + offset
        found.append(read_event(recorder, &now, &event, thread, parent, &earliest, known))
    return 0


cdef Event event_at(Ring *ring, Py_ssize_t i) noexcept:
    """A copy of an event, which may not have ended yet."""
    cdef Event event
    spin(&lock)
    event = ring.events[i]
    unspin(&lock)
    return event


cdef object read_event(Recorder recorder, Ring *ring, Event *event, int thread, long long parent, long long *earliest,
                       Known known):
    """An event, not before the one that began before it (`earliest`), and within the one around it: case 4."""
    cdef bint with_shapes = recorder.options & SHAPES
    cdef long long latest = recorder.stop_time if parent < 0 else (<tuple> recorder.found[parent])[3]
    cdef long long start = min(max(recorder.time_of(event.start), earliest[0]), latest), end = latest
    if event.end != 0 and event.end <= recorder.stop_ticks:
        end = min(max(recorder.time_of(event.end), start), latest)
    earliest[0] = start
    return named(RawEvent, (
        KINDS[event.kind], name_of(event, known.names), start, end, thread, parent,
        -1 if event.kind != BACKWARD and event.n_nodes == 0 else <long long> event.sequence_nr, event.n_nodes,
        operands_of(ring, event, known) if with_shapes else None,
        array_at(ring, event.result, known) if with_shapes and event.result else None,
        stack_of(ring, event, known), args_of(event)))


cdef inline object named(object type_of_tuple, tuple values):
    """A named tuple, without the Python code that stands before its constructor."""
    return new_tuple(<PyTypeObject *> type_of_tuple, (values,), NULL)


cdef object name_of(Event *event, dict names):
    """The name of what an event is about."""
    cdef object what = <object> event.what
    if isinstance(what, str):
        return what
    if type(what) is tuple:
        return what[0]
    name = names.get(<size_t> event.what)
    if name is None:
        name = names[<size_t> event.what] = called(what)
    return name


cdef object called(object what):
    """`__iadd__` is add_, `__getitem__` getitem."""
    name = public_names.get(what) or what.__name__
    if not (name.startswith("__") and name.endswith("__")):
        return name
    name = name.strip("_")
    return f"{name[1:]}_" if name in IN_PLACE else name


cdef object args_of(Event *event):
    return (<tuple> event.what)[1] if type(<object> event.what) is tuple else None


cdef tuple stack_of(Ring *ring, Event *event, Known known):
    """The frames of the user's code, innermost first."""
    cdef long long alone[2]
    cdef long long *numbers = alone
    cdef int n = 1
    if event.n_frames:
        numbers, n = ring.details + event.details - 1, event.n_frames
    elif event.code != NULL:
        alone[0], alone[1] = <long long> event.code, event.instruction
    else:
        return ()
    key = as_bytes(numbers, 2 * n)
    stack = known.stacks.get(key)
    if stack is None:
        stack = known.stacks[key] = tuple(
            [frame_of(<PyObject *> numbers[2 * k], numbers[2 * k + 1], known.frames) for k in range(n)])
    return stack


cdef object frame_of(PyObject *code, int instruction, dict frames):
    key = (<size_t> code, instruction)
    frame = frames.get(key)
    if frame is None:
        frame = frames[key] = Frame(*place_of(<object> code, instruction))
    return frame


cdef tuple operands_of(Ring *ring, Event *event, Known known):
    cdef Py_ssize_t first = event.details + 2 * event.n_frames, place = first
    cdef list found
    if event.n_operands == 0:
        return ()
    for _k in range(event.n_operands):
        place += size_of_array(ring, place)
    key = as_bytes(ring.details + first - 1, place - first)
    operands = known.operands.get(key)
    if operands is None:
        found = []
        while first < place:
            found.append(array_at(ring, first, known))
            first += size_of_array(ring, first)
        operands = known.operands[key] = tuple(found)
    return operands


cdef object array_at(Ring *ring, Py_ssize_t place, Known known):
    """The array that is described there; `place` is one more than where."""
    key = as_bytes(ring.details + place - 1, size_of_array(ring, place))
    array = known.arrays.get(key)
    if array is None:
        array = known.arrays[key] = array_of(ring.details + place - 1)
    return array


cdef inline Py_ssize_t size_of_array(Ring *ring, Py_ssize_t place) noexcept:
    """How many numbers describe it."""
    return 2 + 2 * (ring.details[place - 1] & 255)


cdef inline bytes as_bytes(long long *numbers, Py_ssize_t n):
    return PyBytes_FromStringAndSize(<char *> numbers, n * sizeof(long long))


cdef object array_of(long long *numbers):
    cdef int ndim = numbers[0] & 255, axis
    cdef int type_num = (numbers[0] >> 8) & 255
    if type_num not in described:
        descr = PyArray_DescrFromType(type_num)
        described[type_num] = (descr.name, descr.itemsize)      # NumPy makes the name anew each time
    name, itemsize = described[type_num]
    return named(Array, (
        tuple([numbers[2 + axis] for axis in range(ndim)]), tuple([numbers[2 + ndim + axis] for axis in range(ndim)]),
        name, itemsize, numbers[0] >> 16, <size_t> numbers[1]))


cdef int read_allocations(Recorder recorder, dict offsets) except -1:
    cdef Py_ssize_t k, n, shift, first
    cdef Allocation found
    if not recorder.options & MEMORY:
        return 0
    spin(&lock)
    n = n_allocations
    unspin(&lock)
    for k in range(recorder.first_allocation, n):
        spin(&lock)
        found = allocations[k]
        unspin(&lock)
        if found.when > recorder.stop_ticks:
            break
        thread, shift, first = offsets.get(<size_t> found.ring, (-1, 0, 0))
        recorder.memory_found.append(named(RawAllocation, (
            recorder.time_of(found.when), thread, found.nbytes, <size_t> found.address,
            found.event - 1 + shift if found.event - 1 >= first and found.event > 0 else -1)))
    return 0


# regions of the user

@cython.final
cdef class Region:
    """An open region; None stands for one that nobody records."""
    cdef Span span


def begin_region(name, args=None):
    """begin_region(name, args=None) -> token: a region of the user begins; None if nobody records."""
    cdef Region region
    if not isinstance(name, str):
        raise TypeError(f"the name of a region must be a str, not {type(name).__name__}")
    if not recorders_on():
        return None
    region = Region.__new__(Region)
    what = name if args is None else (name, args)
    region.span = begin(REGION, <PyObject *> what)
    return region


def end_region(Region token=None):
    """end_region(token): the region ends."""
    if token is not None:
        end(token.span)


def is_recording():
    """is_recording() -> bool: whether any Recorder is on."""
    return recorders_on()
