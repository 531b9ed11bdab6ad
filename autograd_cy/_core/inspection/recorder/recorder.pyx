"""The Recorder: turns recording of events on and off, and reads the events."""

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.ops.overrides cimport watch
from autograd_cy._core.recording.events cimport (
    CAPACITY, MEMORY, SHAPES, STACKS, make_room, need_rings_no_more, options, recorders_on, recording, rely_on_rings)
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, add_int, hold, let_go, peek_int, store_int

cdef enum:
    MOST = 1 << 28              # maximum events of a thread: positions of their details have 32 bits
    N_OPTIONS = 3

cdef object switch = object()   # the lock for starting and stopping
cdef int[N_OPTIONS] n_wanted    # for each option, how many Recorders want it


@cython.final
cdef class Recorder:
    """Recorder(shapes=False, stack=False, memory=False, capacity=0): records events from start() to stop(), in all threads.

    `shapes`: describe operands and results. `stack`: record all frames, not only the innermost. `memory`: record blocks of the
    pool. `capacity`: minimum number of events per thread; 262144 if it is 0.
    """
    cdef EventReader reader     # of the current or last recording
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
        make_room(self.capacity)         # now rather than while events are timed

    def __dealloc__(self):
        if self.is_on:
            self.turn_off()
            need_rings_no_more()

    cdef int check_is_off(self) except -1:
        if peek_int(&self.is_on) or peek_int(&self.is_read):
            raise RuntimeError("the Recorder is on already")
        return 0

    def start(self):
        """start(): start recording. RuntimeError if it is on."""
        cdef EventReader reader = EventReader()
        self.check_is_off()
        make_room(self.capacity)
        rely_on_rings()
        try:
            reader.options = self.options
            reader.note_start()
            if not recorders_on():
                watch(True)
            self.turn_on(reader)
        except BaseException:
            need_rings_no_more()
            raise

    cdef int turn_on(self, EventReader reader) except -1:
        cdef Hold section
        hold(&section, <PyObject *> switch)
        try:
            self.check_is_off()             # another thread may have started it
            self.reader = reader
            reader.note_losses()
            store_int(&self.is_on, True)
            add_int(&recording, 1)
            want(self.options, 1)
            if FREE_THREADED:
                watch(True)           # another thread may have stopped the last Recorder
        finally:
            let_go(&section)
        return 0

    cdef void turn_off(self) noexcept:
        """Stop recording. The contents of rings stay until they are no longer needed."""
        cdef Hold section
        hold(&section, <PyObject *> switch)
        store_int(&self.is_on, False)
        add_int(&recording, -1)
        want(self.options, -1)
        if not recorders_on():
            watch(False)
        let_go(&section)

    def stop(self):
        """stop(): stop recording, and read the events. RuntimeError if it is not on; it is off afterwards in any case."""
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
        """events() -> list of RawEvent: by thread, in the order in which they began."""
        return self.reader.events

    def memory(self):
        """memory() -> list of RawAllocation, in order."""
        return self.reader.memory

    @property
    def threads(self):
        """The threads with events, as (the system's number, name)."""
        return self.reader.threads

    @property
    def dropped(self):
        """The number of events for which there was no room."""
        return self.reader.dropped

    @property
    def undescribed(self):
        """The number of shapes and stacks for which there was no room."""
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
    """Count one Recorder more, or less, that wants these options."""
    cdef int k, all_wanted = 0
    for k in range(N_OPTIONS):
        if wanted >> k & 1:
            n_wanted[k] += change
        if n_wanted[k]:
            all_wanted |= 1 << k
    store_int(&options, all_wanted)
