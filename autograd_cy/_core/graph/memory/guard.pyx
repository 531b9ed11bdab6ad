"""Checks and callbacks before memory is written: guarded memory refuses a write, watchers see it.

NOTE [Guarded memory]
  1. NumPy's flag WRITEABLE belongs to an array object, not to memory. So it is cleared on the saved array, on all arrays that
     this is a view of, and on arrays from numpy() and to from_numpy(): users of these get NumPy's error.
  2. Locks are counted: an array that was writeable becomes writeable again when the last save that locked it is released.
  3. Our own operations write without checking the flag, and views taken before the lock keep theirs. So in-place operations
     call `announce_write`, which finds the locks by the array that owns the memory, and refuses writes that overlap. Views
     that users took before the lock are detected only by the checksum, on request.
  4. Arrays from numpy() and to from_numpy() are tracked cheaply, with weak references and no callbacks. Entries of dead arrays
     are dropped when the table is full, which then grows to twice the live entries.
"""

import numpy as np

cimport cython
from cpython.mem cimport PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.weakref cimport PyWeakref_NewRef
from libc.stdlib cimport qsort

from autograd_cy._core.arrays.buffers cimport measure, strided_view
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, add_int, hold, let_go
from autograd_cy._core.runtime.state cimport GUARDED, pop_value, push_value, stack_of

cdef enum:
    FEW_NOTES = 64                  # minimum free entries

cdef struct Note:
    PyObject *array                 # of a tensor: only its address, it may be dead
    PyObject *view                  # weak reference to a user's array on the same memory

watched = 0
cdef Note *notes = NULL
cdef Py_ssize_t n_notes = 0, n_sorted = 0, room = 0
cdef dict locks = {}                # id of an array -> Lock
cdef list watchers = []             # functions called with the array that will be written
cdef object own_lock = object()     # protects all of these where there is no GIL


def push_guard(bint checksum):
    """Guard saved tensors from now on, with checksums or without."""
    push_value(GUARDED, checksum)


def pop_guard():
    """Undo the last push_guard()."""
    pop_value(GUARDED, "guard_buffers")


@cython.final
cdef class Lock:
    """An array object that is temporarily read-only."""
    cdef cnp.ndarray array
    cdef object key                 # in `locks`: its id
    cdef bint was_writeable
    cdef list views                 # users' arrays on its memory that were made read-only, too
    cdef long count
    cdef dict guards                # guards of memory that this array owns: id of the Guard -> (array, owner)


@cython.final
@cython.no_gc
cdef class Guard:
    def __dealloc__(self):
        if self.array is not None:
            unlock(self)

    cdef int check(self) except -1:
        """RuntimeError if the elements have changed since the array was locked."""
        if self.checksum is not None and self.checksum != checksum_of(self.array):
            raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                               f"operation that is not known: {self.owner}, and its memory has other contents now. It was "
                               "written through an array that shares it; write to a copy, or after backward().")
        return 0


cdef object checksum_of(cnp.ndarray array):
    import zlib                             # imported here because few users need it
    return zlib.crc32(array.tobytes())


cdef object base_of(cnp.ndarray array):
    """The array that this one is a view of, or None."""
    base = cnp.get_array_base(array)
    return base if isinstance(base, cnp.ndarray) else None


cdef object owner_of(cnp.ndarray array):
    """The array at the end of the chain of bases."""
    base = base_of(array)
    while base is not None:
        array, base = base, base_of(base)
    return array


cdef Py_ssize_t offset_of(cnp.ndarray array) except -1:
    """The number of elements before the array's first one in its memory."""
    cdef cnp.ndarray owner = <cnp.ndarray> owner_of(array)
    cdef Py_ssize_t below, above
    measure(owner, &below, &above)
    return max(cnp.PyArray_BYTES(array) - cnp.PyArray_BYTES(owner) + below, 0) // cnp.PyArray_ITEMSIZE(array)


cdef Py_ssize_t room_of(cnp.ndarray array) except -1:
    """The size of the array's memory in bytes."""
    cdef cnp.ndarray owner = <cnp.ndarray> owner_of(array)
    cdef Py_ssize_t below, above
    measure(owner, &below, &above)
    return below + above


cdef Guard guarded(cnp.ndarray array, str owner):
    """Make an array and the arrays that it is a view of read-only until the returned Guard dies."""
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
    """The locks of an array and of the arrays that it is a view of, new or existing; the owner's is the last."""
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
    """Undo `guarded`; allocates nothing."""
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


# arrays of users

cdef cnp.ndarray view_of(cnp.ndarray array):
    """A separate array object on the same memory: its shape may be changed, and guards know it."""
    cdef cnp.ndarray view = strided_view(array, cnp.PyArray_BYTES(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array),
                                         cnp.PyArray_STRIDES(array))
    cdef Lock lock = locks.get(id(array)) if watched else None
    note_view(array, view)
    if lock is not None and lock.was_writeable:
        lock.views.append(view)
    return view


cdef int note_view(cnp.ndarray array, cnp.ndarray view) except -1:
    """Tell guards about a user's array on the memory of `array`: case 4 of NOTE [Guarded memory]."""
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
    """Make room for at least as many new entries as there are live ones."""
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
    """tidy_notes(): drop dead arrays from the table, and sort the others. Allocates nothing."""
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
        if n > 0 and compare_notes(&notes[k], &notes[n - 1]) == 0:      # the same array was noted twice
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
    """The users' arrays on an array's memory that are alive."""
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
        if view is not None and overlap(array, view):       # else noted for an earlier array at this address
            found.append(view)
        low += 1
    return found


cdef int announce_write(cnp.ndarray target, str operation) except -1:
    """Call before a write: RuntimeError if the memory is guarded; then the watchers are called."""
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
    """Whether two arrays have an element in common; True if that is hard to decide."""
    return overlap(a, b)


def memory_of(cnp.ndarray array):
    """The id of the array that owns the memory: equal for arrays on the same memory while the owner lives."""
    return id(owner_of(array))


def add_watcher(watcher):
    """Call watcher(array) before an operation writes an array in place."""
    watchers.append(watcher)
    add_int(&watched, 1)


def remove_watcher(watcher):
    """Undo add_watcher()."""
    watchers.remove(watcher)
    add_int(&watched, -1)
