"""How often memory was written, by which operation, and where."""

from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Part:
    """The target of a write through a view, kept as numbers so that no memory is held."""
    cdef long version
    cdef size_t address
    cdef tuple sizes
    cdef tuple strides
    cdef object dtype
    cdef Part earlier               # the previous one


cdef class VersionCounter:
    """How often the memory of a tensor was written; shared by a tensor, its views and its detached aliases."""
    cdef long version
    cdef long whole                 # the version after the last write that may have covered all of the memory
    cdef Part latest                # the last write to a part, if none since covered all; linked to earlier ones
    cdef object writer              # the name of the operation that wrote last
    cdef object code                # the user's code that called it, and the instruction in it (see location.pyx)
    cdef int instruction


cdef int count_unnamed(VersionCounter counter) except -1
cdef int count_named(VersionCounter counter, cnp.ndarray target, bint in_part, str operation) except -1
cdef void count(VersionCounter counter, Part part, str writer, object code, int instruction) noexcept
cdef Part part_of(cnp.ndarray target)
cdef bint was_touched(VersionCounter counter, cnp.ndarray array, long version) except -1
