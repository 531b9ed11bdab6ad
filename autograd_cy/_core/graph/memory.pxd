"""Memory that tensors share: guards, versions, layouts, gradients of zeros."""

from cpython.object cimport PyObject

from autograd_cy._core.runtime cimport numpy_api as cnp

# in guard.pyx
cdef int watched                    # the number of locked arrays and watchers, usually 0

cdef object owner_of(cnp.ndarray array)
cdef Py_ssize_t offset_of(cnp.ndarray array) except -1
cdef Py_ssize_t room_of(cnp.ndarray array) except -1
cdef cnp.ndarray view_of(cnp.ndarray array)
cdef int note_view(cnp.ndarray array, cnp.ndarray view) except -1

cdef int announce_write(cnp.ndarray target, str operation) except -1


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

# in versions.pyx

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

# in layouts.pyx
cdef PyObject *sparse_type      # the class of sparse tensors; NULL until its module is loaded

cdef object sparse_gradient(object indices, object values, tuple sizes)
cdef object sparse_rows(object numbers, object rows, Py_ssize_t n)


cdef extern from "Python.h":
    PyObject *Py_TYPE "(PyObject *) Py_TYPE"(object) noexcept


cdef inline bint is_sparse(object x) noexcept:
    """Whether `x` is a sparse tensor: see NOTE [Sparse tensors]."""
    return Py_TYPE(x) == sparse_type

# in zeros.pyx
cdef object zeroed(object result, object zeros)
cdef object all_zero(object gradients)
