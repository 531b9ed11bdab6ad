"""How Tensors and Nodes live and die: the collector's view of them, and freeing without recursion."""

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
    Link *previous     # NULL once the collector tracks the owner (without a GIL, from the beginning)
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

cdef inline void hide(Link *link) noexcept:
    """Hide an object from the collector, which sees all that a compiled class allocates; nothing if it is hidden."""
    PyObject_GC_UnTrack(owner_of(link))

cdef void watch(Link *link, int kind) noexcept
cdef void unwatch(Link *link, int kind) noexcept
cdef void release(Link *link) noexcept

# The life of an object: `begin_death` in its tp_dealloc, then it gives up what it holds, and is a spare or free. `revived` is
# the birth of a spare.

ctypedef void (*Destructor)(PyObject *) noexcept


cdef inline void begin_death(PyObject *self, Link *link, int kind, void *weak_references) noexcept:
    """The first thing that an object does which dies; what follows may take and give back references."""
    if weak_references != NULL:
        PyObject_ClearWeakRefs(self)
    take_over(self, 1)
    hide(link)
    if DEBUG or not FREE_THREADED:
        unwatch(link, kind)


cdef inline void end_life(PyObject *self, Destructor compiled_dealloc) noexcept:
    """Free an object, as Cython does it."""
    take_over(self, 0)
    compiled_dealloc(self)


cdef inline void lay_aside(PyObject *self, Spares *spares, Destructor compiled_dealloc) noexcept:
    """Keep a dead object as a spare, all of whose fields are None and which is hidden; free it if there are enough."""
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
