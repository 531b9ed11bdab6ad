"""Events that are recorded while a profiler runs."""

from cpython.object cimport PyObject

from autograd_cy._core.recording.rings cimport Event, Ring
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport peek_int

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
