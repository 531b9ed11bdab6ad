"""What is to be done before memory is written: saved arrays under guard refuse it, watchers look at it.

NOTE [Guarded memory]
  1. NumPy's flag WRITEABLE belongs to an array object, not to memory. So the flag is taken from the saved array, from all
     arrays that it is a view of, and from those that numpy() gave and from_numpy() got: users who hold one get NumPy's error.
  2. Each object is counted: it is writeable again, if it was before, when the last save that locked it is released.
  3. Our own operations write without asking the flag, and arrays that were taken as views before the lock keep theirs. So
     operations in place ask `announce_write`, which finds the locks by the array that owns the memory, and refuses what
     overlaps. Views that users took of an array before the lock are found by the checksum alone, on request.
  4. What numpy() gave and from_numpy() got is noted with a weak reference each, for next to nothing: neither by name nor
     with a callback. The notes of the dead are dropped when there is no more room, which then grows to twice what lives.
"""

import numpy as np

cimport cython
from cpython.mem cimport PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.weakref cimport PyWeakref_NewRef
from libc.stdlib cimport qsort

from autograd_cy._core.arrays.buffers cimport strided_view
from autograd_cy._core.arrays.region cimport measure
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, add_int, hold, let_go
from autograd_cy._core.runtime.modes cimport pop_value, push_value, stack_of
from autograd_cy._core.runtime.state cimport GUARDED

cnp.import_array()

cdef enum:
    FEW_NOTES = 64                  # there is always room for so many

cdef struct Note:
    PyObject *array                 # of a tensor: its address alone, it may be gone
    PyObject *view                  # weak reference to an array on the same memory that a user has

watched = 0
cdef Note *notes = NULL
cdef Py_ssize_t n_notes = 0, n_sorted = 0, room = 0
cdef dict locks = {}                # id of an array -> Lock
cdef list watchers = []             # functions of the array that will be written
cdef object own_lock = object()     # of all that, where there is no GIL


def push_guard(bint checksum):
    """Guard what is saved from now on, with checksums or without."""
    push_value(GUARDED, checksum)


def pop_guard():
    """Take back the last push_guard()."""
    pop_value(GUARDED, "guard_buffers")


@cython.final
cdef class Lock:
    """An array object that is read-only for a while."""
    cdef cnp.ndarray array
    cdef object key                 # in `locks`: its id
    cdef bint was_writeable
    cdef list views                 # those that users have of it, and that were made read-only, too
    cdef long count
    cdef dict guards                # those whose array this one owns: id of the Guard -> (array, owner)


@cython.final
@cython.no_gc
cdef class Guard:
    def __dealloc__(self):
        if self.array is not None:
            unlock(self)

    cdef int check(self) except -1:
        """RuntimeError if the elements are others than when the array was locked."""
        if self.checksum is not None and self.checksum != checksum_of(self.array):
            raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                               f"operation that is not known: {self.owner}, and its memory has other contents now. It was "
                               "written through an array that shares it; write to a copy, or after backward().")
        return 0


cdef object checksum_of(cnp.ndarray array):
    import zlib                             # a library of its own, which few need
    return zlib.crc32(array.tobytes())


cdef object base_of(cnp.ndarray array):
    """The array that this one is a view of, or None."""
    base = cnp.get_array_base(array)
    return base if isinstance(base, cnp.ndarray) else None


cdef object owner_of(cnp.ndarray array):
    """The array that owns the memory, as far as arrays do."""
    base = base_of(array)
    while base is not None:
        array, base = base, base_of(base)
    return array


cdef Py_ssize_t offset_of(cnp.ndarray array) except -1:
    """How many elements lie before an array's first one in its memory."""
    cdef cnp.ndarray owner = <cnp.ndarray> owner_of(array)
    cdef Py_ssize_t below, above
    measure(owner, &below, &above)
    return max(cnp.PyArray_BYTES(array) - cnp.PyArray_BYTES(owner) + below, 0) // cnp.PyArray_ITEMSIZE(array)


cdef Py_ssize_t room_of(cnp.ndarray array) except -1:
    """How many bytes there are in an array's memory."""
    cdef cnp.ndarray owner = <cnp.ndarray> owner_of(array)
    cdef Py_ssize_t below, above
    measure(owner, &below, &above)
    return below + above


cdef Guard guarded(cnp.ndarray array, str owner):
    """Make an array and those it is a view of read-only, until the Guard that is returned dies."""
    cdef Guard guard = Guard.__new__(Guard)
    cdef Hold section
    hold(&section, <PyObject *> own_lock)
    try:
        guard_held(guard, array, owner)
    finally:
        let_go(&section)
    return guard


cdef int guard_held(Guard guard, cnp.ndarray array, str owner) except -1:
    """`guarded`, with the lock held."""
    cdef Lock lock
    cdef tuple locked
    guard.owner = owner
    guard.checksum = checksum_of(array) if stack_of(GUARDED)[0] else None
    guard.key = id(guard)
    locked = locks_of(array)
    try:
        for lock in locked:
            locks[lock.key] = lock
        lock.guards[guard.key] = (array, owner)
    except BaseException:
        drop_unused(locked)
        raise
    guard.array, guard.locks = array, locked
    for lock in locked:
        if lock.count == 0:
            lock.was_writeable = cnp.PyArray_ISWRITEABLE(lock.array)
            cnp.PyArray_CLEARFLAGS(lock.array, cnp.NPY_ARRAY_WRITEABLE)
            for view in lock.views:
                cnp.PyArray_CLEARFLAGS(<cnp.ndarray> view, cnp.NPY_ARRAY_WRITEABLE)
        lock.count += 1
    add_int(&watched, 1)
    return 0


cdef tuple locks_of(cnp.ndarray array):
    """The locks of an array and of those it is a view of, which may be new ones; the owner's is the last."""
    cdef list found = []
    cdef Lock lock
    link = array
    while link is not None:
        lock = locks.get(id(link))
        if lock is None:
            lock = Lock.__new__(Lock)
            lock.array, lock.key, lock.guards = link, id(link), {}
            lock.views = [view for view in given_of(link) if cnp.PyArray_ISWRITEABLE(<cnp.ndarray> view)]
        found.append(lock)
        link = base_of(link)
    return tuple(found)


cdef int drop_unused(tuple locked) except -1:
    cdef Lock lock
    for lock in locked:
        if lock.count == 0:
            locks.pop(lock.key, None)
    return 0


cdef int unlock(Guard guard) except -1:
    """Takes no memory."""
    cdef Hold section
    hold(&section, <PyObject *> own_lock)
    try:
        unlock_held(guard)
    finally:
        let_go(&section)
    return 0


cdef int unlock_held(Guard guard) except -1:
    """`unlock`, with the lock held."""
    cdef Lock lock
    for lock in guard.locks:
        lock.count -= 1
        if lock.count == 0:
            del locks[lock.key]
            if lock.was_writeable:
                cnp.PyArray_ENABLEFLAGS(lock.array, cnp.NPY_ARRAY_WRITEABLE)
            for view in lock.views:
                cnp.PyArray_ENABLEFLAGS(<cnp.ndarray> view, cnp.NPY_ARRAY_WRITEABLE)
    del lock.guards[guard.key]
    add_int(&watched, -1)
    return 0


# what users get

cdef cnp.ndarray view_of(cnp.ndarray array):
    """An array object of its own on the same memory: its shape may be changed, and guards know of it."""
    cdef cnp.ndarray view = strided_view(array, cnp.PyArray_BYTES(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array),
                                         cnp.PyArray_STRIDES(array))
    cdef Lock lock = locks.get(id(array)) if watched else None
    note_view(array, view)
    if lock is not None and lock.was_writeable:
        lock.views.append(view)
    return view


cdef int note_view(cnp.ndarray array, cnp.ndarray view) except -1:
    """Let guards of an array know of another one on the same memory, which a user has: case 4 of NOTE [Guarded memory]."""
    cdef object reference = PyWeakref_NewRef(view, None)
    cdef Hold section
    if not FREE_THREADED:
        return note_held(array, reference)
    hold(&section, <PyObject *> own_lock)
    try:
        return note_held(array, reference)
    finally:
        let_go(&section)


cdef inline int note_held(cnp.ndarray array, object reference) except -1:
    """`note_view`, with the lock held."""
    global n_notes
    if n_notes == room:
        make_room()
    Py_INCREF(reference)
    notes[n_notes].array, notes[n_notes].view = <PyObject *> array, <PyObject *> reference
    n_notes += 1
    return 0


cdef int make_room() except -1:
    """Room for as many notes again as there are of the living."""
    tidy_held()
    if (2 * n_notes > room or room == 0) and not resize_notes():
        raise MemoryError()
    return 0


cdef bint resize_notes() noexcept:
    global notes, room
    cdef Note *moved = <Note *> PyMem_Realloc(notes, (2 * n_notes + FEW_NOTES) * sizeof(Note))
    if moved != NULL:
        notes, room = moved, 2 * n_notes + FEW_NOTES
    return moved != NULL


def tidy_notes():
    """tidy_notes(): forget the arrays that users had and that are gone, and sort the others. Takes no memory."""
    cdef Hold section
    hold(&section, <PyObject *> own_lock)
    try:
        tidy_held()
    finally:
        let_go(&section)


cdef int tidy_held() except -1:
    """`tidy_notes`, with the lock held."""
    global n_notes, n_sorted
    cdef Py_ssize_t k, n = 0
    for k in range(n_notes):
        if (<object> notes[k].view)() is not None:
            notes[n] = notes[k]
            n += 1
        else:
            Py_DECREF(<object> notes[k].view)
    n_notes, n = n, 0
    if n_notes > 1:
        qsort(notes, n_notes, sizeof(Note), compare_notes)
    for k in range(n_notes):
        if n > 0 and compare_notes(&notes[k], &notes[n - 1]) == 0:      # the same array was given to a tensor again
            Py_DECREF(<object> notes[k].view)
        else:
            notes[n] = notes[k]
            n += 1
    n_notes = n_sorted = n
    if room > 4 * (n_notes + FEW_NOTES):
        resize_notes()
    return 0


cdef int compare_notes(const void *a, const void *b) noexcept nogil:
    cdef const Note *x = <const Note *> a
    cdef const Note *y = <const Note *> b
    if x.array != y.array:
        return 1 if <size_t> x.array > <size_t> y.array else -1
    return (<size_t> x.view > <size_t> y.view) - (<size_t> x.view < <size_t> y.view)


cdef list given_of(cnp.ndarray array):
    """The arrays on an array's memory that users have, as far as they live."""
    cdef Py_ssize_t low = 0, high, middle
    cdef list found = []
    if n_sorted < n_notes:
        tidy_held()
    high = n_notes
    while low < high:
        middle = (low + high) // 2
        if <size_t> notes[middle].array < <size_t> <PyObject *> array:
            low = middle + 1
        else:
            high = middle
    while low < n_notes and notes[low].array == <PyObject *> array:
        view = (<object> notes[low].view)()
        if view is not None and overlap(array, view):       # else noted for an array that was here before
            found.append(view)
        low += 1
    return found


cdef int announce_write(cnp.ndarray target, str operation) except -1:
    """To be called before memory is written: RuntimeError if it is guarded; then the watchers are told."""
    cdef Lock lock = locks.get(id(owner_of(target)))
    if lock is not None:
        for array, owner in list(lock.guards.values()):
            if overlap(array, target):
                raise RuntimeError(
                    f"{operation}(): the memory that would be written is needed for gradient computation: {owner} under "
                    "guard_buffers(), and it is read-only until that is released. Write to a clone(), or after backward()."
                )
    for watcher in list(watchers):
        watcher(target)
    return 0


cdef bint overlap(cnp.ndarray a, cnp.ndarray b):
    try:
        return np.shares_memory(a, b, max_work=1000)
    except np.exceptions.TooHardError:
        return True


def share_memory(cnp.ndarray a, cnp.ndarray b):
    """Whether an element of one array is an element of the other; True where that is hard to tell."""
    return overlap(a, b)


def memory_of(cnp.ndarray array):
    """What two arrays on the same memory have in common: the id of the array that owns it, while that lives."""
    return id(owner_of(array))


def add_watcher(watcher):
    """Let watcher(array) be called before an operation writes an array in place."""
    watchers.append(watcher)
    add_int(&watched, 1)


def remove_watcher(watcher):
    """Take back add_watcher()."""
    watchers.remove(watcher)
    add_int(&watched, -1)
