"""Rings: each thread's events until they are read (NOTE [Recording events], cases 3 and 5 to 7).

A thread writes into its own ring; code that reads or empties all rings counts as their user meanwhile. The GIL, or without one
`ring_lock`, protects the contents of rings. It also protects the list of allocations, which all threads share.
"""

import sys

cimport cython
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF, Py_XINCREF
from libc.string cimport memset

from autograd_cy._core.runtime.free_threading cimport (
    Spin, add_int, add_number, peek_int, peek_size, spin, store_size, unspin)
from autograd_cy._core.runtime.state cimport ThreadState, thread_state

cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()
    unsigned long PyThread_get_thread_ident()
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **)
    void PyErr_Restore(PyObject *, PyObject *, PyObject *)

cdef extern from "fork_lock.h":
    Spin lock "autograd_cy_lock"
    void watch_forks "autograd_cy_watch_forks"()

watch_forks()                       # a child begins with an open lock and consistent data

cdef enum:
    DETAILS = 8                     # average number of integers that describe an event's operands, stack and result

cdef Spin *ring_lock = &lock
cdef unsigned long long epoch = 1
cdef unsigned long long lost = 0

cdef Ring *rings = NULL
cdef Py_ssize_t capacity = CAPACITY
cdef Allocation *allocations = NULL
cdef Py_ssize_t n_allocations = 0, allocations_size = 0
cdef int users = 0              # users of ring contents: Recorders that are on or read, and code that empties rings


# of this thread

@cython.final
cdef class RingOwner:
    """Held by the dict of Python's thread, and freed with it; the system's thread may live on and get another ring."""
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
    """This thread's ring, emptied; NULL if there is no memory. Preserves a pending exception."""
    return emptied_ring(False)


cdef Ring *emptied_ring(bint touch) noexcept:
    """`prepared_ring`. `touch`: also touch the pages of new memory, which takes some milliseconds."""
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
        empty(ring, touch)
        give_name(ring)
        spin(&lock)
        ring.epoch = epoch
        unspin(&lock)
    except BaseException:           # this thread's events are not recorded
        ring = NULL
    PyErr_Restore(error, value, trace)
    return ring


cdef Ring *new_ring() except NULL:
    """A ring owned by the thread's dict."""
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


cdef int empty(Ring *ring, bint touch) except -1:
    """Drop a ring's events, and give it the requested capacity."""
    cdef Py_ssize_t wanted = <Py_ssize_t> peek_size(<size_t *> &capacity)
    cdef Event *events
    cdef long long *details
    forget(ring)
    if state_of(ring).capacity == wanted:
        return 0
    give_room(ring, NULL, NULL, 0)
    events = <Event *> PyMem_RawMalloc(wanted * sizeof(Event))
    details = <long long *> PyMem_RawMalloc(wanted * DETAILS * sizeof(long long))
    if events == NULL or details == NULL:
        PyMem_RawFree(events)
        PyMem_RawFree(details)
        raise MemoryError()
    if touch:
        memset(events, 0, wanted * sizeof(Event))
        memset(details, 0, wanted * DETAILS * sizeof(long long))
    give_room(ring, events, details, wanted)
    return 0


cdef void give_room(Ring *ring, Event *events, long long *details, Py_ssize_t n) noexcept:
    """Replace the memory of a ring without events by this memory, for `n` events."""
    cdef Ring old
    spin(&lock)
    old = ring[0]
    ring.events, ring.details = events, details
    ring.capacity, ring.details_capacity = n, n * DETAILS
    unspin(&lock)
    PyMem_RawFree(old.events)
    PyMem_RawFree(old.details)


cdef int give_name(Ring *ring) except -1:
    """Store the thread's name. threading's functions would take locks and register unknown threads."""
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


cdef int make_room(Py_ssize_t n) except -1:
    """Prepare this thread's ring, with room for `n` events unless other Recorders are on."""
    cdef Ring *ring = <Ring *> thread_state().ring
    if not peek_int(&users):
        store_size(<size_t *> &capacity, <size_t> n)
    if ring != NULL and is_filled(ring) and (peek_int(&users) or state_of(ring).capacity == n):
        return 0
    if emptied_ring(touch=True) == NULL:
        raise MemoryError(f"no memory for {n} events")
    return 0


cdef void note_allocation(void *address, long long nbytes) noexcept:
    """Record that a block of the pool was taken, or returned (negative)."""
    global allocations, allocations_size, n_allocations
    cdef Allocation *grown
    cdef Ring *ring = current_ring()
    spin(&lock)
    if n_allocations == allocations_size:
        grown = <Allocation *> PyMem_RawRealloc(allocations, (2 * allocations_size + 1024) * sizeof(Allocation))
        if grown != NULL:
            allocations, allocations_size = grown, 2 * allocations_size + 1024
    if n_allocations < allocations_size:
        allocations[n_allocations] = Allocation(ticks(), ring, 0 if ring == NULL else ring.open, address, nbytes)
        n_allocations += 1
    unspin(&lock)


# of all threads

cdef void forget_events(Event *events, Py_ssize_t n, long long *details) noexcept:
    """Release the objects of events."""
    cdef Py_ssize_t i
    cdef int k
    for i in range(n):
        Py_XDECREF(events[i].what)
        Py_XDECREF(events[i].code)
        for k in range(events[i].n_frames):
            Py_XDECREF(<PyObject *> details[events[i].details - 1 + 2 * k])


cdef void forget(Ring *ring) noexcept:
    """Empty a ring. While foreign code runs, it has neither events nor room: case 7."""
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
    """Empty all rings, after the last Recorder has stopped. Rings of living threads keep their memory for the next one."""
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
    """Add a user: case 7. Takes the lock under which rings are freed."""
    spin(&lock)
    add_int(&users, 1)
    unspin(&lock)


cdef void need_rings_no_more() noexcept:
    """Remove a user; the last one empties all rings."""
    if add_int(&users, -1) == 0:
        forget_all()


cdef Ring *first_ring() noexcept:
    """The current list of rings. Its caller must be counted as a user."""
    cdef Ring *ring
    spin(&lock)
    ring = rings
    unspin(&lock)
    return ring


cdef bint is_filled(Ring *ring) noexcept:
    """Whether a ring's contents belong to the current recording."""
    cdef bint filled
    spin(&lock)
    filled = ring.epoch == epoch
    unspin(&lock)
    return filled


cdef void start_epoch() noexcept:
    """Empty all rings, except those that are recorded into again meanwhile."""
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
    """Free the empty rings of threads that have ended, unless there are users."""
    cdef Ring *ring = dead_ring()
    while ring != NULL:
        Py_XDECREF(ring.name)
        PyMem_RawFree(ring.events)
        PyMem_RawFree(ring.details)
        PyMem_RawFree(ring)
        ring = dead_ring()


cdef Ring *dead_ring() noexcept:
    """Remove a dead ring from the list and return it, or NULL."""
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


cdef Ring state_of(Ring *ring) noexcept:
    """A copy of a ring's fields, while its thread continues."""
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


cdef Event event_at(Ring *ring, Py_ssize_t i) noexcept:
    """A copy of an event, which may not have ended yet."""
    cdef Event event
    spin(&lock)
    event = ring.events[i]
    unspin(&lock)
    return event


cdef Py_ssize_t count_allocations() noexcept:
    cdef Py_ssize_t n
    spin(&lock)
    n = n_allocations
    unspin(&lock)
    return n


cdef Allocation allocation_at(Py_ssize_t i) noexcept:
    cdef Allocation change
    spin(&lock)
    change = allocations[i]
    unspin(&lock)
    return change
