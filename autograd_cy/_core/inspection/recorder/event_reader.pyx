"""Converting events to Python objects, after recording has stopped so that the program's times exclude it."""

from time import perf_counter_ns

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject, PyTypeObject

from autograd_cy._core.recording.events cimport (
    BACKWARD, MEMORY, SHAPES, Allocation, Event, Ring, allocation_at, count_allocations, event_at, first_ring, is_filled, lost,
    name_of_thread, public_names, state_of, ticks)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport load_number
from autograd_cy._core.runtime.state cimport place_of, thread_state

from autograd_cy._core.inspection.raw_events import Array, Frame, RawAllocation, RawEvent

cdef extern from "Python.h":
    object new_tuple "PyTuple_Type.tp_new"(PyTypeObject *, object, PyObject *)

cdef extern from "numpy/arrayobject.h":
    cnp.dtype PyArray_DescrFromType(int)

cdef tuple KINDS = ("op", "backward", "engine", "function", "hook", "region", "threads")
cdef tuple IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor")
cdef dict described = {}            # number of a NumPy dtype -> its name and size


cdef Moment this_moment() except *:
    cdef unsigned long long time = perf_counter_ns()
    return Moment(ticks(), time)


@cython.final
cdef class EventReader:
    """Reads the events between two moments. Its caller keeps the rings in use from the first moment on."""

    def __cinit__(self):
        self.threads = []
        self.names, self.frames, self.stacks, self.arrays, self.operands = {}, {}, {}, {}, {}

    cdef int note_start(self) except -1:
        """Note the current contents of the rings, which are not this reader's."""
        cdef Ring *ring = first_ring()
        cdef Ring state
        self.sizes = {}
        while ring != NULL:
            if is_filled(ring):
                state = state_of(ring)
                self.sizes[<size_t> ring] = (state.size, state.dropped, state.undescribed)
            ring = ring.next
        self.start = this_moment()
        return 0

    cdef void note_losses(self) noexcept:
        """Note the other counters, too: allocations and lost events."""
        self.first_allocation = count_allocations()
        self.lost_before = load_number(&lost)

    cdef int note_stop(self) except -1:
        self.stop = this_moment()
        return 0

    cdef int read(self) except -1:
        """Convert events and allocations to Python objects, by thread, the caller's first."""
        cdef Ring *ring = first_ring()
        cdef list own = [], others = []
        cdef dict offsets = {}      # ring -> number of the thread, offset from its places to ours, first place
        self.events, self.memory, self.threads = [], [], []
        self.dropped, self.undescribed = load_number(&lost) - self.lost_before, 0
        while ring != NULL:
            if is_filled(ring):
                (own if ring == <Ring *> thread_state().ring else others).append(<size_t> ring)
            ring = ring.next
        for place in own + others[::-1]:
            self.read_ring(<Ring *> <size_t> place, offsets)
        if self.options & MEMORY:
            self.read_allocations(offsets)
        self.names = self.frames = self.stacks = self.arrays = self.operands = None
        return 0

    cdef int read_ring(self, Ring *ring, dict offsets) except -1:
        """Add the events of one thread."""
        cdef Ring state = state_of(ring)
        cdef Py_ssize_t first, i, dropped, undescribed, n = state.size
        cdef long long parent, earliest = self.start.time
        cdef Event event
        cdef int thread = len(self.threads)
        cdef Py_ssize_t offset = len(self.events)
        first, dropped, undescribed = self.sizes.get(<size_t> ring, (0, 0, 0))
        self.dropped += state.dropped - dropped
        self.undescribed += state.undescribed - undescribed
        self.threads.append((ring.ident, name_of_thread(ring)))
        offsets[<size_t> ring] = (thread, offset - first, first)
        while n > first and event_at(&state, n - 1).start > self.stop.ticks:
            n -= 1                  # recorded for another Recorder, which is still on
        for i in range(first, n):
            event = event_at(&state, i)
            parent = <long long> event.parent - 1
            parent = -1 if parent < first else parent - first + offset
            self.events.append(self.read_event(&state, &event, thread, parent, &earliest))
        return 0

    cdef object read_event(self, Ring *ring, Event *event, int thread, long long parent, long long *earliest):
        """An event, clipped to the times of its parent and not before the previous event (`earliest`): case 4."""
        cdef bint with_shapes = self.options & SHAPES
        cdef long long latest = self.stop.time if parent < 0 else (<tuple> self.events[parent])[3]
        cdef long long start = min(max(self.time_of(event.start), earliest[0]), latest), end = latest
        if event.end != 0 and event.end <= self.stop.ticks:
            end = min(max(self.time_of(event.end), start), latest)
        earliest[0] = start
        return named(RawEvent, (
            KINDS[event.kind], self.name_of(event), start, end, thread, parent,
            -1 if event.kind != BACKWARD and event.n_nodes == 0 else <long long> event.sequence_nr, event.n_nodes,
            self.operands_of(ring, event) if with_shapes else None,
            self.array_at(ring, event.result) if with_shapes and event.result else None,
            self.stack_of(ring, event), args_of(event)))

    cdef int read_allocations(self, dict offsets) except -1:
        cdef Py_ssize_t k, shift, first
        cdef Allocation found
        for k in range(self.first_allocation, count_allocations()):
            found = allocation_at(k)
            if found.when > self.stop.ticks:
                break
            thread, shift, first = offsets.get(<size_t> found.ring, (-1, 0, 0))
            self.memory.append(named(RawAllocation, (
                self.time_of(found.when), thread, found.nbytes, <size_t> found.address,
                found.event - 1 + shift if found.event - 1 >= first and found.event > 0 else -1)))
        return 0

    cdef long long time_of(self, unsigned long long when) noexcept:
        """Convert ticks to nanoseconds of time.perf_counter_ns()."""
        cdef double rate = 1.0
        if self.stop.ticks > self.start.ticks:
            rate = <double> (self.stop.time - self.start.time) / <double> (self.stop.ticks - self.start.ticks)
        return <long long> self.start.time + <long long> (<double> (<long long> (when - self.start.ticks)) * rate)

    cdef object name_of(self, Event *event):
        """The name of the event's function, node class or region."""
        cdef object what = <object> event.what
        if isinstance(what, str):
            return what
        if type(what) is tuple:
            return what[0]
        name = self.names.get(<size_t> event.what)
        if name is None:
            name = self.names[<size_t> event.what] = called(what)
        return name

    cdef tuple stack_of(self, Ring *ring, Event *event):
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
        stack = self.stacks.get(key)
        if stack is None:
            stack = self.stacks[key] = tuple(
                [self.frame_of(<PyObject *> numbers[2 * k], numbers[2 * k + 1]) for k in range(n)])
        return stack

    cdef object frame_of(self, PyObject *code, int instruction):
        key = (<size_t> code, instruction)
        frame = self.frames.get(key)
        if frame is None:
            frame = self.frames[key] = Frame(*place_of(<object> code, instruction))
        return frame

    cdef tuple operands_of(self, Ring *ring, Event *event):
        cdef Py_ssize_t first = event.details + 2 * event.n_frames, place = first
        cdef list found
        if event.n_operands == 0:
            return ()
        for _k in range(event.n_operands):
            place += size_of_array(ring, place)
        key = as_bytes(ring.details + first - 1, place - first)
        operands = self.operands.get(key)
        if operands is None:
            found = []
            while first < place:
                found.append(self.array_at(ring, first))
                first += size_of_array(ring, first)
            operands = self.operands[key] = tuple(found)
        return operands

    cdef object array_at(self, Ring *ring, Py_ssize_t place):
        """The array described at `place` - 1."""
        key = as_bytes(ring.details + place - 1, size_of_array(ring, place))
        array = self.arrays.get(key)
        if array is None:
            array = self.arrays[key] = array_of(ring.details + place - 1)
        return array


cdef inline object named(object type_of_tuple, tuple values):
    """A named tuple, made without the Python code of its constructor."""
    return new_tuple(<PyTypeObject *> type_of_tuple, (values,), NULL)


cdef object called(object what):
    """A function's name: add_ for `__iadd__`, getitem for `__getitem__`."""
    name = public_names.get(what) or what.__name__
    if not (name.startswith("__") and name.endswith("__")):
        return name
    name = name.strip("_")
    return f"{name[1:]}_" if name in IN_PLACE else name


cdef object args_of(Event *event):
    return (<tuple> event.what)[1] if type(<object> event.what) is tuple else None


cdef inline Py_ssize_t size_of_array(Ring *ring, Py_ssize_t place) noexcept:
    """The number of integers that describe the array."""
    return 2 + 2 * (ring.details[place - 1] & 255)


cdef inline bytes as_bytes(long long *numbers, Py_ssize_t n):
    return PyBytes_FromStringAndSize(<char *> numbers, n * sizeof(long long))


cdef object array_of(long long *numbers):
    cdef int ndim = numbers[0] & 255, axis
    cdef int type_num = (numbers[0] >> 8) & 255
    if type_num == 255:                     # the only registered dtype
        described[type_num] = ("bfloat16", 2)
    if type_num not in described:
        descr = PyArray_DescrFromType(type_num)
        name = "longdouble" if descr.char == "g" else descr.name
        described[type_num] = (name, descr.itemsize)            # cached, since NumPy computes the name each time
    name, itemsize = described[type_num]
    return named(Array, (
        tuple([numbers[2 + axis] for axis in range(ndim)]), tuple([numbers[2 + ndim + axis] for axis in range(ndim)]),
        name, itemsize, numbers[0] >> 16, <size_t> numbers[1]))
