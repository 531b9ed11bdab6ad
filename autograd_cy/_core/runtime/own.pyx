"""What a thread keeps for itself where Python has no GIL (lowest layer but for the thread's state).

NOTE [Free threading]
Without a GIL, the core itself has to keep threads from changing what another one reads:
  1. Dead objects that serve again, the arrays of numbers, and what is remembered of the user's code are each thread's own
     (`own_store`), and go with it. Tensors and nodes are seen by the collector from the beginning: it needs no list of them.
  2. What an object gets when it is first needed (extras, counters, hooks, their lists) is put there under the object's
     lock: who comes second takes what is there (`set_once`). Afterwards it stays. Who reads such a field asks first whether
     anything is there (`has_extras`, `is_unset`): that makes its contents known to this thread, too.
  3. A node is evaluated, and what it saved is given up, under the node's lock; a `.grad` is added to under the lock of its
     leaf; a view is brought in line with its base under its own. These are Python's critical sections: their holder lets go of
     them where one with a GIL would let go of that. So what is right with a GIL is right with them, for one object.
  4. Notes in a node belong to the task whose compare-and-swap came first (NOTE [Scratch]). A leaf finds its AccumulateGrad
     by a pointer without a reference, under the leaf's lock: one that is about to die is not found (`ask_for`).
  5. A walk of several threads has the lock of its Walk in the GIL's place; while it evaluates a node, that of the node, too.
  6. That nobody else has an object is said by its two reference counts, that of the thread that made it and that of all others
     (`is_unique`). Where the first is another thread's, the answer is no, and memory that could be written is copied. A walk
     of several threads lets all references to a gradient be counted in the second (`open_to_all`): which sums are made in
     place, and so their bits, must not depend on who made what.
  7. The pool, numbers that all share, tables: a lock for some instructions, or atomic numbers.
  8. Whoever writes a tensor in place, or gives it other data, must not let other threads use it meanwhile: that is NumPy's
     rule for its arrays, too.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New

cdef extern from *:
    """
    static AUTOGRAD_CY_OWN void *autograd_cy_stores[AUTOGRAD_CY_STORES];
    static AUTOGRAD_CY_OWN void **autograd_cy_places[AUTOGRAD_CY_STORES];   /* where else they stand: `store_here`, or NULL */
    static AUTOGRAD_CY_OWN int autograd_cy_closed;                          /* the thread ends */
    """
    void *autograd_cy_stores[STORES]
    void **autograd_cy_places[STORES]
    bint autograd_cy_closed

cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()

cdef size_t[STORES] sizes
cdef Emptier[STORES] emptiers


cdef void declare_store(int kind, size_t size, Emptier emptier) noexcept:
    """Say how large a store is, which is all zero when it is new, and what gives up the objects in it."""
    sizes[kind], emptiers[kind] = size, emptier


cdef void *own_store(int kind) noexcept:
    """This thread's store; NULL where there is no memory for it, or the thread ends."""
    if autograd_cy_stores[kind] != NULL:
        return autograd_cy_stores[kind]
    return new_store(kind)


cdef void *find_store(int kind, void **here) noexcept:
    """`own_store`, which is noted in a variable of the thread's, too, until the thread ends."""
    here[0] = own_store(kind)
    autograd_cy_places[kind] = here
    return here[0]


cdef void *new_store(int kind) noexcept:
    cdef PyObject *entries
    if autograd_cy_closed:
        return NULL
    try:
        entries = PyThreadState_GetDict()
        if entries == NULL:
            return NULL
        # the thread's dict dies with the thread, in it
        if "autograd_cy.stores" not in <dict> entries:
            (<dict> entries)["autograd_cy.stores"] = PyCapsule_New(<void *> autograd_cy_stores, NULL, close)
    except Exception:
        return NULL
    autograd_cy_stores[kind] = PyMem_RawCalloc(1, sizes[kind])
    return autograd_cy_stores[kind]


cdef void close(object capsule) noexcept:
    """The thread ends: give up all that it kept. Of a thread that is gone already, as after a fork, nothing can be reached."""
    global autograd_cy_closed
    cdef void *store
    cdef int kind
    if PyCapsule_GetPointer(capsule, NULL) != <void *> autograd_cy_stores:
        return
    autograd_cy_closed = True
    for kind in range(STORES):
        store = autograd_cy_stores[kind]
        if store != NULL:
            emptiers[kind](store)
            autograd_cy_stores[kind] = NULL
            if autograd_cy_places[kind] != NULL:
                autograd_cy_places[kind][0] = NULL
            PyMem_RawFree(store)
