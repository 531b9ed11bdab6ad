"""Settings that belong to a context, one around the other."""

cdef int push_level(object variable, object value, int bit) except -1
cdef int pop_level(object variable) except -1
cdef int return_to_level(object variable, Level level, int bit) except -1
cdef Level top_level(object variable)
cdef Level around(Level level)


cdef class ThreadLevels:
    """How many Levels of a thread live, by the mode that they set."""
    cdef Py_ssize_t hooks
    cdef Py_ssize_t guards


cdef class Level:
    """One entered context manager, and the one around it. Copies of the context share it."""
    cdef object value
    cdef Level outer
    cdef int bit
    cdef ThreadLevels thread
    cdef bint ended             # but there was no memory for a context without it
