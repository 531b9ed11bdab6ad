"""VersionCounter: how often memory was written, by which operation, and where (knows no Tensor)."""

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport may_meet, sizes_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport Hold, hold, let_go, store_long
from autograd_cy._core.runtime.state cimport here

cdef enum:
    REMEMBERED = 8          # number of partial writes that a counter keeps


@cython.final
@cython.freelist(256)
cdef class VersionCounter:
    pass


@cython.final
cdef class Part:
    pass


cdef int count_unnamed(VersionCounter counter) except -1:
    """Count a write to all of the memory without naming an operation."""
    count(counter, None, None, None, 0)
    return 0


cdef int count_named(VersionCounter counter, cnp.ndarray target, bint in_part, str operation) except -1:
    """Count an operation's write into `target`, and note the user's code; `in_part`: it covers only a part of the memory."""
    cdef int instruction = 0
    cdef object code = here(&instruction)
    count(counter, part_of(target) if in_part else None, operation, code, instruction)
    return 0


cdef void count(VersionCounter counter, Part part, str writer, object code, int instruction) noexcept:
    """Count a write to a part of the memory (None: to all of it), with its writer; can't fail."""
    cdef Hold section
    hold(&section, <PyObject *> counter)
    count_held(counter, part, writer, code, instruction)
    let_go(&section)


cdef inline void count_held(VersionCounter counter, Part part, str writer, object code, int instruction) noexcept:
    """`count`, with the counter's lock held."""
    store_long(&counter.version, counter.version + 1)
    counter.writer, counter.code, counter.instruction = writer, code, instruction
    if part is None:
        counter.latest = None
        counter.whole = counter.version
        return
    part.version, part.earlier = counter.version, counter.latest
    counter.latest = part
    forget_earliest(counter)


cdef void forget_earliest(VersionCounter counter) noexcept:
    """Drop the oldest partial write if there are too many, and count it as one to all of the memory."""
    cdef Part part = counter.latest
    cdef int _k
    for _k in range(REMEMBERED - 1):
        part = part.earlier
        if part is None:
            return
    if part.earlier is not None:
        counter.whole = part.earlier.version
        part.earlier = None


cdef Part part_of(cnp.ndarray target):
    """A write to the elements of an array, not counted yet."""
    cdef Part part = Part.__new__(Part)
    part.address = <size_t> cnp.PyArray_BYTES(target)
    part.sizes = sizes_of(target)
    part.strides = tuple([cnp.PyArray_STRIDE(target, axis) for axis in range(cnp.PyArray_NDIM(target))])
    part.dtype = target.descr
    return part


cdef bint was_touched(VersionCounter counter, cnp.ndarray array, long version) except -1:
    """Whether a write since that version may have changed the array's memory: case 6 of NOTE [Saved tensors]."""
    cdef Hold section
    hold(&section, <PyObject *> counter)
    try:
        return was_touched_held(counter, array, version)
    finally:
        let_go(&section)


cdef bint was_touched_held(VersionCounter counter, cnp.ndarray array, long version) except -1:
    """`was_touched`, with the counter's lock held."""
    cdef Part part = counter.latest
    cdef long seen = 0
    if counter.whole > version:
        return True
    while part is not None and part.version > version:
        seen += 1
        if may_meet(array, part.address, part.sizes, part.strides, part.dtype):
            return True
        part = part.earlier
    return seen < counter.version - version
