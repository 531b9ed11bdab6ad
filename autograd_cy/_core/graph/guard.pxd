"""Checks and callbacks before memory is written."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int watched                    # the number of locked arrays and watchers, usually 0

cdef int announce_write(cnp.ndarray target, str operation) except -1
cdef object owner_of(cnp.ndarray array)
cdef Py_ssize_t offset_of(cnp.ndarray array) except -1
cdef Py_ssize_t room_of(cnp.ndarray array) except -1
cdef cnp.ndarray view_of(cnp.ndarray array)
cdef int note_view(cnp.ndarray array, cnp.ndarray view) except -1

cdef inline int prepare_write(cnp.ndarray target, str operation) except -1:
    """Call before a write: RuntimeError if the memory is guarded or read-only; then the watchers are called."""
    if watched:
        announce_write(target, operation)
    if not cnp.PyArray_ISWRITEABLE(target):
        raise RuntimeError(f"{operation}(): assignment destination is read-only")
    return 0

cdef Guard guarded(cnp.ndarray array, str owner)


cdef class Guard:
    """Keeps an array read-only as long as it lives."""
    cdef cnp.ndarray array
    cdef str owner                  # which node saved it, for the message
    cdef object checksum            # of the elements, or None
    cdef tuple locks                # of the array and of the arrays that it is a view of
    cdef object key                 # of this guard in the owner's `guards`

    cdef int check(self) except -1
