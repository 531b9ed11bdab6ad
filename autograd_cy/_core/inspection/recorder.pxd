"""Recorded events as the user reads them."""

from cpython.object cimport PyObject

from autograd_cy._core.recording.events cimport Event, Ring

# in event_reader.pyx

cdef struct Moment:
    unsigned long long ticks, time          # of the processor's counter, and of time.perf_counter_ns()

cdef class EventReader:
    cdef int options                        # what is recorded besides events: see events.pxd
    cdef Moment start, stop
    # the state before the start
    cdef dict sizes                         # ring -> how many events it had, and how many it had dropped
    cdef Py_ssize_t first_allocation
    cdef unsigned long long lost_before
    # the results
    cdef list threads                       # (the system's number, name)
    cdef list events, memory                # None until `read`
    cdef unsigned long long dropped, undescribed
    # caches by content, since most events share theirs with others
    cdef dict names                         # address of a function or class -> its name
    cdef dict frames                        # (address of the code object, instruction) -> Frame
    cdef dict stacks                        # the describing numbers as bytes -> the object, here and below
    cdef dict arrays
    cdef dict operands

    cdef int note_start(self) except -1
    cdef void note_losses(self) noexcept
    cdef int note_stop(self) except -1
    cdef int read(self) except -1
    cdef int read_ring(self, Ring *ring, dict offsets) except -1
    cdef object read_event(self, Ring *ring, Event *event, int thread, long long parent, long long *earliest)
    cdef int read_allocations(self, dict offsets) except -1
    cdef long long time_of(self, unsigned long long when) noexcept
    cdef object name_of(self, Event *event)
    cdef tuple stack_of(self, Ring *ring, Event *event)
    cdef object frame_of(self, PyObject *code, int instruction)
    cdef tuple operands_of(self, Ring *ring, Event *event)
    cdef object array_at(self, Ring *ring, Py_ssize_t place)
