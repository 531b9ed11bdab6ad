"""Birth and death of Tensors and Nodes (knows neither; each embeds a Link).

NOTE [Collector]
A cycle can be collected only if the cyclic collector tracks every object on it. But the collector walks all tracked objects of
a growing graph again and again, so recording an op would cost more the larger the graph is. Therefore Tensors and Nodes start
untracked, linked in a list, and a handler in `gc.callbacks` tracks them:
  1. All of them at the start of a full collection, which finds the cycles among them;
  2. Survivors stay tracked, in the oldest generation, which is seldom walked;
  3. Untracked objects don't count as survivors, so full collections may not happen on their own. Therefore they are also
     tracked at the start of any collection that finds more than `TRACK_ABOVE` of them and four times those already tracked.
Without a GIL they are tracked from birth: there are no generations, and collections become rarer the more objects there are.

NOTE [Freeing without recursion]
The death of a Node would free the Nodes of its inputs in nested calls, with some stack frames for each. Instead, a dying Node
or Tensor passes a Node to which it has the last reference to `release`. The outermost call frees the queued Nodes in a loop;
an inner call only queues its Node. The queue runs through the Links of the dead, so freeing allocates nothing. Tensors saved
by a Node die within its call and queue their own `grad_fn`.


NOTE [Spares]
A dead object whose fields are all None and which the collector doesn't track can be reused by setting its reference count to
one: without allocation, and without counting references to None for each field. So the modules of Tensor and Node keep some
dead objects of exactly these types (and of Node's subclasses without fields, which differ only in their type): at most
MAX_SPARES, 8 MB of nodes and 5 of tensors, which empty_cache() frees.
"""

import gc

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF

from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, add_size

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        PyObject *tp_dict
    void PyType_Modified(PyTypeObject *type)
    void PyObject_GC_Track(PyObject *op)
    bint PyObject_GC_IsTracked(PyObject *op)
    Py_ssize_t Py_REFCNT(PyObject *op)

cdef extern from *:
    """
    static AUTOGRAD_CY_THREAD_LOCAL void *autograd_cy_dead;
    static AUTOGRAD_CY_THREAD_LOCAL int autograd_cy_draining;
    """
    void *autograd_cy_dead
    bint autograd_cy_draining

cdef Py_ssize_t TRACK_ABOVE = 1_000_000

cdef Link watched
watched.next = &watched
watched.previous = &watched

cdef Py_ssize_t untracked = 0
cdef Py_ssize_t tracked = 0
cdef Py_ssize_t[2] live
live[TENSOR] = 0
live[NODE] = 0


cdef void watch(Link *link, int kind) noexcept:
    """Append a new object, which the collector doesn't track, to the list."""
    global untracked
    if FREE_THREADED:
        PyObject_GC_Track(owner_of(link))
        if DEBUG:
            add_size(&live[kind], 1)
        return
    link.next = &watched
    link.previous = watched.previous
    watched.previous.next = link
    watched.previous = link
    untracked += 1
    if DEBUG:
        live[kind] += 1


cdef void unwatch(Link *link, int kind) noexcept:
    """Remove a dying object from the list if it is still there. Called once in an object's life."""
    global untracked, tracked
    if DEBUG:
        add_size(&live[kind], -1)
    if FREE_THREADED:
        return
    if link.previous == NULL:
        tracked -= 1
        return
    link.previous.next = link.next
    link.next.previous = link.previous
    link.previous = NULL
    untracked -= 1


cdef void track_all() noexcept:
    """Let the collector track every object in the list, and empty the list."""
    global untracked, tracked
    cdef Link *link = watched.next
    cdef Link *following
    while link != &watched:
        following = link.next
        if Py_REFCNT(owner_of(link)) > 0:      # a dying one (its weakref callback runs) removes itself
            if not PyObject_GC_IsTracked(owner_of(link)):       # its __del__ may have resurrected it
                PyObject_GC_Track(owner_of(link))
            link.previous.next = following
            following.previous = link.previous
            link.previous = NULL
            untracked -= 1
            tracked += 1
        link = following


cdef void release(Link *link) noexcept:
    """Drop the last reference to the node that owns `link`; see NOTE [Freeing without recursion]."""
    global autograd_cy_dead, autograd_cy_draining
    cdef Link *dead
    link.next_dead = <Link *> autograd_cy_dead
    autograd_cy_dead = link
    if autograd_cy_draining:
        return
    autograd_cy_draining = True
    while autograd_cy_dead != NULL:
        dead = <Link *> autograd_cy_dead
        autograd_cy_dead = dead.next_dead
        Py_DECREF(<object> owner_of(dead))
    autograd_cy_draining = False


def on_collection(str phase, dict info):
    """The handler in `gc.callbacks`; see NOTE [Collector]."""
    if phase == "start" and (info["generation"] >= 2 or untracked > max(TRACK_ABOVE, 4 * tracked)):
        track_all()


def refuse_new(object compiled_class):
    """refuse_new(compiled_class): make `__new__` of a class raise TypeError, since an object made by it would lack its parts.

    The core makes objects by `tp_new`, which is unchanged.
    """
    cdef dict attributes = <dict> (<TypeObject *> compiled_class).tp_dict
    if attributes.get("__new__") is not refusal:
        attributes["__new__"] = refusal
        PyType_Modified(<PyTypeObject *> compiled_class)


def not_by_users(cls, *args, **kwargs):
    raise TypeError(f"cannot create '{cls.__name__}' instances: the package makes them")


cdef object refusal = staticmethod(not_by_users)


def live_objects():
    """live_objects() -> dict: the numbers of living Tensors and Nodes (counted in debug builds only).

    >>> from autograd_cy._core.runtime.state import live_objects
    >>> sorted(live_objects())
    ['Node', 'Tensor']
    """
    return {"Tensor": live[TENSOR], "Node": live[NODE]}


if not FREE_THREADED:
    gc.callbacks.append(on_collection)
