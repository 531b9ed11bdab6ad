"""Denying memory to one thread, for tests; in release builds nothing is ever denied."""

from autograd_cy._core.runtime.state cimport DEBUG

cdef extern from "numpy/ndarraytypes.h":     # how NumPy allocates the memory of its arrays
    ctypedef struct Allocator "PyDataMemAllocator":
        void *ctx
        void *(*malloc)(void *, size_t) noexcept
        void *(*calloc)(void *, size_t, size_t) noexcept
        void *(*realloc)(void *, void *, size_t) noexcept
        void (*free)(void *, void *, size_t) noexcept
    ctypedef struct Handler "PyDataMem_Handler":
        char name[127]
        unsigned char version
        Allocator allocator

cdef bint deny() noexcept nogil
cdef bint armed() noexcept nogil

cdef inline bint is_denied() noexcept nogil:
    """Whether an allocation outside of Python's allocators must fail."""
    return DEBUG and deny()

cdef inline bint serves_again() noexcept nogil:
    """Whether dead objects may be reused: not while allocations are counted, because reuse would save some."""
    return not DEBUG or not armed()
