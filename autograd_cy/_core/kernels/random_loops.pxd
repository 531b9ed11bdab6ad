"""Arrays filled with random numbers that follow from a key."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum Kind:
    UNIFORM
    NORMAL

cdef bint can_fill(cnp.ndarray out) except -1
cdef int fill(cnp.ndarray out, Kind kind, uint64_t key, double a, double b) except -1
cdef int fill_integers(cnp.ndarray out, uint64_t key, int64_t least, uint32_t n) except -1
