"""The Recorder: turns on that events are noted, and off again, and reads them."""

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.runtime.event_reader cimport EventReader
from autograd_cy._core.runtime.events cimport MEMORY, SHAPES, STACKS, options, recorders_on, recording, watch_calls
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, add_int, hold, let_go, peek_int, store_int
from autograd_cy._core.runtime.rings cimport CAPACITY, make_room, need_rings_no_more, rely_on_rings

cdef enum:
    MOST = 1 << 28              # events of a thread: places of their details are 32 bits wide
    N_OPTIONS = 3

cdef object switch = object()   # the lock of those who start and stop to record
cdef int[N_OPTIONS] n_wanted    # how many Recorders want each of the options


@cython.final
cdef class Recorder:
    """Recorder(shapes=False, stack=False, memory=False, capacity=0): what happens between start() and stop(), in all threads.

    `shapes`: operands and results are described. `stack`: with all frames, not the innermost alone. `memory`: blocks of the
    pool. `capacity`: events of a thread, at least; 262144 if it is 0.
    """
    cdef EventReader reader     # of what is recorded, or was last
    cdef int options
    cdef Py_ssize_t capacity
    cdef int is_on, is_read

    def __cinit__(self):
        self.capacity, self.reader = CAPACITY, EventReader()

    def __init__(self, bint shapes=False, bint stack=False, bint memory=False, Py_ssize_t capacity=0):
        if capacity < 0 or capacity > MOST:
            raise ValueError(f"capacity must be a number of events, {MOST} at most, got {capacity}")
        self.check_is_off()
        self.options = (SHAPES if shapes else 0) | (STACKS if stack else 0) | (MEMORY if memory else 0)
        self.capacity = capacity or CAPACITY
        make_room(self.capacity)         # now, and not while events are timed

    def __dealloc__(self):
        if self.is_on:
            self.turn_off()
            need_rings_no_more()

    cdef int check_is_off(self) except -1:
        if peek_int(&self.is_on) or peek_int(&self.is_read):
            raise RuntimeError("the Recorder is on already")
        return 0

    def start(self):
        """start(): record from now on. RuntimeError if it does already."""
        cdef EventReader reader = EventReader()
        self.check_is_off()
        make_room(self.capacity)
        rely_on_rings()
        try:
            reader.options = self.options
            reader.note_start()
            if not recorders_on():
                watch_calls(True)
            self.turn_on(reader)
        except BaseException:
            need_rings_no_more()
            raise

    cdef int turn_on(self, EventReader reader) except -1:
        cdef Hold section
        hold(&section, <PyObject *> switch)
        try:
            self.check_is_off()             # by now another thread may have started it
            self.reader = reader
            reader.note_losses()
            store_int(&self.is_on, True)
            add_int(&recording, 1)
            want(self.options, 1)
            if FREE_THREADED:
                watch_calls(True)           # another thread may have stopped the last Recorder since
        finally:
            let_go(&section)
        return 0

    cdef void turn_off(self) noexcept:
        """Record no more. What rings hold stays until they are needed no more."""
        cdef Hold section
        hold(&section, <PyObject *> switch)
        store_int(&self.is_on, False)
        add_int(&recording, -1)
        want(self.options, -1)
        if not recorders_on():
            watch_calls(False)
        let_go(&section)

    def stop(self):
        """stop(): record no more, and read what was recorded. RuntimeError if it is not on; off it is in any case."""
        if not peek_int(&self.is_on):
            raise RuntimeError("the Recorder is not on")
        self.turn_off()
        store_int(&self.is_read, True)
        try:
            self.reader.note_stop()
            self.reader.read()
        finally:
            store_int(&self.is_read, False)
            need_rings_no_more()

    def events(self):
        """events() -> list of RawEvent: by thread, and in each in the order in which they began."""
        return self.reader.events

    def memory(self):
        """memory() -> list of RawAllocation, in their order."""
        return self.reader.memory

    @property
    def threads(self):
        """The threads that have events, as (the system's number, name)."""
        return self.reader.threads

    @property
    def dropped(self):
        """Events for which there was no room."""
        return self.reader.dropped

    @property
    def undescribed(self):
        """Shapes and stacks for which there was none."""
        return self.reader.undescribed

    @property
    def start_time(self):
        """Nanoseconds of time.perf_counter_ns()."""
        return self.reader.start.time

    @property
    def stop_time(self):
        """Nanoseconds of time.perf_counter_ns()."""
        return self.reader.stop.time


cdef void want(int wanted, int change) noexcept:
    """One Recorder more, or less, wants these options."""
    cdef int k, all_wanted = 0
    for k in range(N_OPTIONS):
        if wanted >> k & 1:
            n_wanted[k] += change
        if n_wanted[k]:
            all_wanted |= 1 << k
    store_int(&options, all_wanted)
