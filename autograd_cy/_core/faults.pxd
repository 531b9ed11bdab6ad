"""Denying memory to one thread, for tests; in release builds nothing is ever denied."""

from autograd_cy._core.state cimport DEBUG

cdef bint deny() noexcept nogil
cdef bint armed() noexcept nogil

cdef inline bint is_denied() noexcept nogil:
    """Whether an allocation that Python does not make is to fail."""
    return DEBUG and deny()

cdef inline bint serves_again() noexcept nogil:
    """Whether dead objects may serve again: not while allocations are counted, which they would save."""
    return not DEBUG or not armed()
