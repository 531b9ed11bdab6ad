"""How often memory was written, by whom, and where."""

from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Part:
    """Where a write through a view went: kept as numbers, so that no memory is held."""
    cdef long version
    cdef size_t address
    cdef tuple sizes
    cdef tuple strides
    cdef object dtype
    cdef Part earlier               # the one before


cdef class VersionCounter:
    """How often the memory of a tensor was written; shared by a tensor, its views and its detached aliases."""
    cdef long version
    cdef long whole                 # the version after the last write that may have reached all of the memory
    cdef Part latest                # the last write that reached a part, if none since reached all; it knows those before
    cdef object writer              # the name of the operation that wrote last
    cdef object code                # the user's code that called it, and where in it (see location.pyx)
    cdef int instruction


cdef int count_unnamed(VersionCounter counter) except -1
cdef int count_named(VersionCounter counter, cnp.ndarray target, bint in_part, str operation) except -1
cdef void count(VersionCounter counter, Part part, str writer, object code, int instruction) noexcept
cdef Part part_of(cnp.ndarray target)
cdef bint was_touched(VersionCounter counter, cnp.ndarray array, long version) except -1
