"""A thread's own stores, used where Python has no GIL."""

cdef extern from "own.h":
    enum:
        TENSORS "AUTOGRAD_CY_TENSORS"
        NODES "AUTOGRAD_CY_NODES"
        ARRAYS "AUTOGRAD_CY_ARRAYS"
        CODES "AUTOGRAD_CY_CODES"
        NUMBERS "AUTOGRAD_CY_NUMBERS"
        STORES "AUTOGRAD_CY_STORES"
    void *store_here "autograd_cy_store_here"

ctypedef void (*Emptier)(void *store) noexcept

cdef void declare_store(int kind, size_t size, Emptier emptier) noexcept
cdef void *own_store(int kind) noexcept
cdef void *find_store(int kind, void **here) noexcept

cdef inline void *declared_store(int kind) noexcept:
    """`own_store` for the declaring module, which avoids the call after the first time."""
    return store_here if store_here != NULL else find_store(kind, &store_here)
