"""How Tensors and Nodes live and die (knows neither; each embeds a Link).

NOTE [Collector]
A cycle can be collected only if every object on it is tracked by the cyclic collector; but the collector walks every
tracked object of a growing graph again and again, so that recording an op costs more the larger the graph is.
Therefore Tensors and Nodes are born untracked, linked in a list, and a handler in `gc.callbacks` tracks them:
  1. all of them at the start of a full collection, which finds the cycles among them;
  2. survivors stay tracked, in the oldest generation, which is walked seldom;
  3. where full collections don't come by themselves (what is untracked doesn't count as a survivor), at the start of
     any collection that finds more than `TRACK_ABOVE` untracked objects and four times those already tracked.
Without a GIL they are tracked from birth: there are no generations, and collections come the less often the more there is.

NOTE [Freeing without recursion]
The death of a Node would free the Nodes of its inputs within its own call, some stack frames for each. Instead, a Node
or Tensor that dies hands a Node of which it holds the last reference to `release`: the outermost call frees one after
the other, an inner call only puts its Node on the list. The list runs through the Links of the dead, so that freeing
needs no memory. What a Node saved are Tensors; they die within the Node's call and hand over their own `grad_fn`.


NOTE [Spares]
An object that dies with all its fields None and out of the collector's sight can be born again by counting its references
from one: no allocation, no counting of None up and down for each field. So the modules of Tensor and Node keep some dead
objects of exactly these types (and of Node's subclasses without fields, which differ in their type only): MAX_SPARES at
most, 8 MB of nodes and 5 of tensors, which empty_cache() frees.
"""

import gc

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF

from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, add_size
from autograd_cy._core.runtime.state cimport DEBUG

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
    """Enter a new object, which the collector doesn't see, in the list."""
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
    """Take an object that dies out of the list, if it is still in it. Called once in an object's life."""
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
    """Show every object in the list to the collector, and empty the list."""
    global untracked, tracked
    cdef Link *link = watched.next
    cdef Link *following
    while link != &watched:
        following = link.next
        if Py_REFCNT(owner_of(link)) > 0:      # one that is dying (a weakref's callback runs) leaves by itself
            if not PyObject_GC_IsTracked(owner_of(link)):       # as one is that its __del__ brought back to life
                PyObject_GC_Track(owner_of(link))
            link.previous.next = following
            following.previous = link.previous
            link.previous = NULL
            untracked -= 1
            tracked += 1
        link = following


cdef void release(Link *link) noexcept:
    """Give up the last reference to the node that owns `link`; see NOTE [Freeing without recursion]."""
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
    """refuse_new(compiled_class): let `__new__` of a class raise TypeError, so that nobody makes an object without its parts.

    The core makes its objects by `tp_new` itself, which stays.
    """
    cdef dict attributes = <dict> (<TypeObject *> compiled_class).tp_dict
    if attributes.get("__new__") is not refusal:
        attributes["__new__"] = refusal
        PyType_Modified(<PyTypeObject *> compiled_class)


def not_by_users(cls, *args, **kwargs):
    raise TypeError(f"cannot create '{cls.__name__}' instances: the package makes them")


cdef object refusal = staticmethod(not_by_users)


def live_objects():
    """live_objects() -> dict: how many Tensors and Nodes are alive (counted in debug builds only).

    >>> from autograd_cy._core.runtime.lifetime import live_objects
    >>> sorted(live_objects())
    ['Node', 'Tensor']
    """
    return {"Tensor": live[TENSOR], "Node": live[NODE]}


if not FREE_THREADED:
    gc.callbacks.append(on_collection)
