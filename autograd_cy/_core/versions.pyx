"""VersionCounter: how often memory was written, by whom, and where (knows no Tensor)."""

cimport cython
cimport numpy as cnp

from autograd_cy._core.buffers cimport sizes_of
from autograd_cy._core.location cimport here
from autograd_cy._core.region cimport may_meet

cnp.import_array()

cdef enum:
    REMEMBERED = 8          # writes to parts that a counter keeps


@cython.final
@cython.freelist(256)
cdef class VersionCounter:
    pass


@cython.final
cdef class Part:
    pass


cdef int count_unnamed(VersionCounter counter) except -1:
    """Count a write to all of the memory that no operation of the user made."""
    counter.version += 1
    counter.whole = counter.version
    counter.parts = counter.writer = None
    return 0


cdef int count_named(VersionCounter counter, cnp.ndarray target, bint in_part, str operation) except -1:
    """Count an operation's write into `target`, and note where the user called it; `in_part`: no other memory."""
    counter.version += 1
    counter.writer = operation
    counter.code = here(&counter.instruction)
    if not in_part:
        counter.whole = counter.version
        counter.parts = None
        return 0
    if counter.parts is None:
        counter.parts = []
    if len(counter.parts) == REMEMBERED:
        counter.whole = (<Part> counter.parts[0]).version
        del counter.parts[0]
    counter.parts.append(part_of(target, counter.version))
    return 0


cdef Part part_of(cnp.ndarray target, long version):
    cdef Part part = Part.__new__(Part)
    part.version = version
    part.address = <size_t> cnp.PyArray_BYTES(target)
    part.sizes = sizes_of(target)
    part.strides = tuple([cnp.PyArray_STRIDE(target, axis) for axis in range(cnp.PyArray_NDIM(target))])
    part.dtype = target.descr
    return part


cdef bint was_touched(VersionCounter counter, cnp.ndarray array, long version) except -1:
    """Whether a write since that version may have reached the array's memory: case 6 of NOTE [Saved tensors]."""
    cdef Part part
    cdef long seen = 0
    if counter.whole > version or counter.parts is None:
        return True
    for part in counter.parts:
        if part.version > version:
            seen += 1
            if may_meet(array, part.address, part.sizes, part.strides, part.dtype):
                return True
    return seen < counter.version - version
