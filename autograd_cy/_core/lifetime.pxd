"""How Tensors and Nodes live and die: the collector's view of them, and freeing without recursion."""

from cpython.object cimport PyObject

cdef enum:
    TENSOR = 0
    NODE = 1

cdef struct Link:
    Link *previous     # NULL once the collector tracks the owner
    Link *next
    Link *next_dead    # the list of `release`
    PyObject *owner    # borrowed: a Link is a field of its owner
    int kind

cdef void watch(Link *link, PyObject *owner, int kind) noexcept
cdef void unwatch(Link *link) noexcept
cdef void release(Link *link) noexcept
