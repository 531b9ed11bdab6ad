"""Birth and death of Tensors and Nodes: the collector's view of them, and freeing without recursion."""

from cpython.object cimport PyObject

from autograd_cy._core.runtime.faults cimport serves_again
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, take_over
from autograd_cy._core.runtime.state cimport DEBUG

cdef extern from "Python.h":
    void PyObject_ClearWeakRefs(PyObject *)
    void PyObject_GC_UnTrack(PyObject *)

cdef enum:
    TENSOR = 0
    NODE = 1

cdef struct Link:
    Link *previous     # NULL once the collector tracks the owner (without a GIL, always)
    Link *next
    Link *next_dead    # the list of `release`

cdef inline PyObject *owner_of(Link *link) noexcept nogil:
    """The object whose first field, after its head and its table of methods, is the Link."""
    return <PyObject *> (<char *> link - sizeof(PyObject) - sizeof(void *))

cdef enum:
    MAX_SPARES = 32768

cdef struct Spares:    # dead objects of one type kept for reuse, see NOTE [Spares]
    PyObject *objects[MAX_SPARES]
    int n

cdef inline void hide(Link *link) noexcept:
    """Hide an object from the collector, which tracks all objects of compiled classes at first; may be repeated."""
    PyObject_GC_UnTrack(owner_of(link))

cdef void watch(Link *link, int kind) noexcept
cdef void unwatch(Link *link, int kind) noexcept
cdef void release(Link *link) noexcept

# The life of an object: its tp_dealloc calls `begin_death` and releases its fields; then the object becomes a spare or is
# freed. `revived` returns a spare for reuse.

ctypedef void (*Destructor)(PyObject *) noexcept


cdef inline void begin_death(PyObject *self, Link *link, int kind, void *weak_references) noexcept:
    """The first step of tp_dealloc; later steps may add and drop references."""
    if weak_references != NULL:
        PyObject_ClearWeakRefs(self)
    take_over(self, 1)
    hide(link)
    if DEBUG or not FREE_THREADED:
        unwatch(link, kind)


cdef inline void end_life(PyObject *self, Destructor compiled_dealloc) noexcept:
    """Free an object as Cython does."""
    take_over(self, 0)
    compiled_dealloc(self)


cdef inline void lay_aside(PyObject *self, Spares *spares, Destructor compiled_dealloc) noexcept:
    """Keep a dead, hidden object whose fields are all None as a spare; free it if there are enough."""
    if (FREE_THREADED and spares == NULL) or spares.n == MAX_SPARES:
        end_life(self, compiled_dealloc)
        return
    spares.objects[spares.n] = self
    spares.n += 1


cdef inline PyObject *revived(Spares *spares) noexcept:
    """A spare, which has no reference yet; NULL if there is none."""
    if (FREE_THREADED and spares == NULL) or spares.n == 0 or not serves_again():
        return NULL
    spares.n -= 1
    take_over(spares.objects[spares.n], 0)
    return spares.objects[spares.n]


cdef inline void drop_all(Spares *spares, Destructor compiled_dealloc) noexcept:
    if FREE_THREADED and spares == NULL:
        return
    while spares.n > 0:
        spares.n -= 1
        end_life(spares.objects[spares.n], compiled_dealloc)
