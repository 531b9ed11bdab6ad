"""Limits of recursion: room on the C stack, and levels of backward within backward."""

cdef bint has_room() noexcept
cdef int check_room() except -1
cdef int deepest_backward() noexcept
