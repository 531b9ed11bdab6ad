"""How Tensors and Nodes live and die: the collector's view of them, and freeing without recursion."""

from cpython.object cimport PyObject

cdef enum:
    TENSOR = 0
    NODE = 1

cdef struct Link:
    Link *previous     # NULL once the collector tracks the owner
    Link *next
    Link *next_dead    # the list of `release`

cdef inline PyObject *owner_of(Link *link) noexcept nogil:
    """The object of which the Link is the first field, after its head and its table of methods."""
    return <PyObject *> (<char *> link - sizeof(PyObject) - sizeof(void *))

cdef enum:
    MAX_SPARES = 32768

cdef struct Spares:    # dead objects of one type kept for the next births, see NOTE [Spares]
    PyObject *objects[MAX_SPARES]
    int n
    int inference      # of tensors: how many settings with inference mode live, see modes.pyx; here as `n` is read anyway

cdef void hide(Link *link) noexcept
cdef void watch(Link *link, int kind) noexcept
cdef void unwatch(Link *link, int kind) noexcept
cdef void release(Link *link) noexcept
