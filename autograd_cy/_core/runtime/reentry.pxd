"""Deeply nested backward goes on in another thread."""

cdef int in_fresh_thread(object function, tuple arguments) except -1
