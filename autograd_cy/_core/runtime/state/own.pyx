"""A thread's own stores, used where Python has no GIL (lowest layer except for the thread's state).

NOTE [Free threading]
Without a GIL the core itself must keep threads from changing data that another one reads:
  1. Spare objects, cached number arrays and cached code objects belong to each thread (`own_store`), and are freed with it.
     The collector tracks tensors and nodes from birth, so no list of them is needed.
  2. Fields that are filled on demand (extras, counters, hooks, their lists) are set under the object's lock: a second thread
     uses the value that is there (`set_once`), which then stays. A reader first checks whether the field is set (`has_extras`,
     `is_unset`); that also makes its contents visible to this thread.
  3. A node is evaluated, and its saved tensors are released, under the node's lock. A `.grad` is added to under its leaf's
     lock, and a view is renewed under its own. These are Python's critical sections: they are released where the GIL would be
     released. So code that is correct with a GIL is correct with them, for one object.
  4. Scratch in a node belongs to the task whose compare-and-swap came first (NOTE [Scratch]). A leaf finds its AccumulateGrad
     by a borrowed pointer, under the leaf's lock: a dying one is not found (`ask_for`).
  5. In a parallel walk the lock of its Walk replaces the GIL; while a node is evaluated, its lock is held, too.
  6. Two reference counts, the owner thread's and the shared one, tell whether an object is unique (`is_unique`). If another
     thread owns it, the answer is no, and memory that could be written is copied. A parallel walk moves all references to a
     gradient into the shared count (`open_to_all`): which sums are made in place, and so their bits, must not depend on the
     thread.
  7. The pool, shared counters and tables are protected by a lock for a few instructions, or are atomic.
  8. A thread that writes a tensor in place or replaces its data must not let other threads use it meanwhile. NumPy has the
     same rule for its arrays.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New

cdef extern from *:
    """
    static AUTOGRAD_CY_OWN void *autograd_cy_stores[AUTOGRAD_CY_STORES];
    static AUTOGRAD_CY_OWN void **autograd_cy_places[AUTOGRAD_CY_STORES];   /* `store_here` variables, or NULL */
    static AUTOGRAD_CY_OWN int autograd_cy_closed;                          /* the thread is ending */
    """
    void *autograd_cy_stores[STORES]
    void **autograd_cy_places[STORES]
    bint autograd_cy_closed

cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()

cdef size_t[STORES] sizes
cdef Emptier[STORES] emptiers


cdef void declare_store(int kind, size_t size, Emptier emptier) noexcept:
    """Register a store: its size (a new one is all zero), and the function that releases its objects."""
    sizes[kind], emptiers[kind] = size, emptier


cdef void *own_store(int kind) noexcept:
    """This thread's store; NULL if there is no memory for it, or the thread is ending."""
    if autograd_cy_stores[kind] != NULL:
        return autograd_cy_stores[kind]
    return new_store(kind)


cdef void *find_store(int kind, void **here) noexcept:
    """`own_store`, whose result is cached in a thread-local variable until the thread ends."""
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
        # the dict is freed when the thread ends, in that thread
        if "autograd_cy.stores" not in <dict> entries:
            (<dict> entries)["autograd_cy.stores"] = PyCapsule_New(<void *> autograd_cy_stores, NULL, close)
    except Exception:
        return NULL
    autograd_cy_stores[kind] = PyMem_RawCalloc(1, sizes[kind])
    return autograd_cy_stores[kind]


cdef void close(object capsule) noexcept:
    """Release all stores when the thread ends. Stores of a thread that is already gone, as after a fork, are unreachable."""
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
