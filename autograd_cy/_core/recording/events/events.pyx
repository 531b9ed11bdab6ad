"""Events of a program while it is recorded: calls of operations, nodes that run, phases of the engine, regions of the user.

NOTE [Recording events]
  1. Code that can record an event checks `recorders_on()` first, where that is cheap compared with the work. Calls of
     operations don't even check: `watch` (ops/overrides.pyx) installs another entry for them while a Recorder is on.
  2. An event is a C struct in the ring of its thread, written with the GIL held (without one: the lock), and timed by two
     reads of the processor's counter. Names, lines and dtypes stay pointers until the events are read.
  3. A full ring takes no more events and counts the dropped ones; its contents stay intact.
  4. The parent of an event is the event that was open when it began. An event left open by an error ends with its parent;
     ending it later has no effect. Clocks that differ between cores don't move an event outside its parent.
  5. Recorders may overlap. Each one gets a copy of the events between its start and its stop, in all threads. When the last
     one stops, the rings are emptied (`epoch`); ending an event after that has no effect. A Recorder stops when it is freed.
  6. A thread gets a ring with its first event. The ring lives until the thread has ended and its events are read.
  7. Releasing the objects of events may run foreign code (`__del__`, weakref callbacks), which may record and let other
     threads run. So may reading. `users` counts the users of rings: meanwhile no ring is freed or emptied.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XINCREF

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport add_number, peek_int, spin, unspin
from autograd_cy._core.runtime.state cimport frames_here, here, thread_state

cdef enum:
    MAX_FRAMES = 32
    LONG = 2000                 # ticks, about a microsecond

cdef struct Stack:
    PyObject *codes[MAX_FRAMES]
    int instructions[MAX_FRAMES]
    int n

cdef dict public_names = {}     # functions whose public name is not their own


# recording

cdef Span begin(int kind, PyObject *what) noexcept:
    """Begin an event at the current place in the user's code."""
    cdef Stack stack
    cdef Span span
    cdef int instruction = 0
    code = here(&instruction)           # first, because it may release code objects, which may run other code
    stack.n = 0
    if peek_int(&options) & STACKS and code is not None:
        stack.n = frames_here(stack.codes, stack.instructions, MAX_FRAMES)
    span = new_event(kind, what)
    note_start(span, code, instruction, &stack, thread_state().sequence_nr)
    return span


cdef inline void note_start(Span span, object code, int instruction, Stack *stack, unsigned long long sequence_nr) noexcept:
    """Record where an event began (`stack`: the running frames, or NULL), and when: now."""
    cdef Event *event
    spin(ring_lock)
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
    unspin(ring_lock)


cdef Span begin_named(int kind, str name) noexcept:
    return begin(kind, <PyObject *> name)


cdef Span begin_node(PyObject *what, object code, int instruction, unsigned long long sequence_nr) noexcept:
    """Begin the event of a node that the engine runs and that was recorded at that place."""
    cdef Span span = new_event(BACKWARD, what)
    note_start(span, code, instruction, NULL, sequence_nr)
    return span


cdef inline bint is_there(Span span) noexcept:
    """Whether the ring still holds the event; if not, the ring may have been freed."""
    return span.ring != NULL and span.epoch == epoch


cdef inline bint is_open(Span span) noexcept:
    """Whether an existing event is the innermost open one, or encloses it."""
    cdef Py_ssize_t open = span.ring.open
    while open > span.place + 1:
        open = span.ring.events[open - 1].parent
    return open == span.place + 1


cdef void end(Span span) noexcept:
    cdef Event *event
    spin(ring_lock)
    if is_there(span) and is_open(span):
        event = &span.ring.events[span.place]
        event.end = ticks()
        if event.kind != BACKWARD and span.ring == <Ring *> thread_state().ring:     # else another thread's numbers
            event.n_nodes = thread_state().sequence_nr - event.sequence_nr
        span.ring.open = event.parent
    unspin(ring_lock)


cdef void note_what_followed(Span span, str name) noexcept:
    """Record the time since an event's end as an event of its own, if it is long enough."""
    cdef unsigned long long start = 0, now = ticks()
    cdef Event *event
    spin(ring_lock)
    if is_there(span):
        start = span.ring.events[span.place].end
    unspin(ring_lock)
    if start == 0 or now - start < LONG:
        return
    span = new_event(ENGINE, <PyObject *> name)
    spin(ring_lock)
    if is_there(span):
        event = &span.ring.events[span.place]
        event.sequence_nr = 0
        event.start, event.end = start, now
        span.ring.open = event.parent
    unspin(ring_lock)


cdef inline Span new_event(int kind, PyObject *what) noexcept:
    """Add an event without time and place, now the innermost open one; without a ring if there is no room or no Recorder."""
    cdef Ring *ring
    cdef Span span
    if not recorders_on():          # a walk checks only at its beginning
        return Span(NULL, 0, 0)
    ring = current_ring()
    if ring == NULL:
        add_number(&lost, 1)
        return Span(NULL, 0, 0)
    spin(ring_lock)
    span = next_event(ring, kind, what)
    unspin(ring_lock)
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
    """Record the running frames of the user's code."""
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
    """Record an operand of an event that has just begun."""
    cdef Ring *ring = span.ring
    cdef Event *event
    cdef unsigned int place
    spin(ring_lock)
    if is_there(span) and ring.events[span.place].n_operands < 255:
        event = &ring.events[span.place]
        place = describe(ring, array)
        if place:
            event.details = event.details or place
            event.n_operands += 1
    unspin(ring_lock)


cdef void note_result(Span span, cnp.ndarray array) noexcept:
    spin(ring_lock)
    if is_there(span):
        span.ring.events[span.place].result = describe(span.ring, array)
    unspin(ring_lock)


cdef unsigned int describe(Ring *ring, cnp.ndarray array) noexcept:
    """Record an array's dtype and layout; returns the position plus one, or 0 if there is no room."""
    cdef int ndim = cnp.PyArray_NDIM(array), axis
    cdef long long *place = ring.details + ring.details_size
    if ring.details_size + 2 + 2 * ndim > ring.details_capacity:
        ring.undescribed += 1
        return 0
    place[0] = ndim | min(cnp.PyArray_TYPE(array), 255) << 8 | <long long> cnp.PyArray_FLAGS(array) << 16
    place[1] = <long long> <size_t> cnp.PyArray_DATA(array)
    for axis in range(ndim):
        place[2 + axis] = cnp.PyArray_DIM(array, axis)
        place[2 + ndim + axis] = cnp.PyArray_STRIDE(array, axis)
    ring.details_size += 2 + 2 * ndim
    return ring.details_size - 1 - 2 * ndim


cdef void note_memory(void *address, long long nbytes) noexcept:
    """Record that a block of the pool was taken, or returned (negative)."""
    if peek_int(&options) & MEMORY:
        note_allocation(address, nbytes)


cdef Span begin_loop() noexcept with gil:
    """Begin the event of a loop shared among threads; its caller may hold the GIL or not."""
    return begin_named(THREADS, "shared loop")


cdef void end_loop(Span span) noexcept with gil:
    end(span)


# the user's regions

@cython.final
cdef class Region:
    """An open region; None is used for one that is not recorded."""
    cdef Span span


def begin_region(name, args=None):
    """begin_region(name, args=None) -> token: begin a region; None if no Recorder is on."""
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
    """end_region(token): end the region."""
    if token is not None:
        end(token.span)


def is_recording():
    """is_recording() -> bool: whether any Recorder is on."""
    return recorders_on()
