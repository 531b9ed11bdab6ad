"""What a thread keeps for itself where Python has no GIL."""

cdef extern from "own.h":
    enum:
        TENSORS "AUTOGRAD_CY_TENSORS"
        NODES "AUTOGRAD_CY_NODES"
        ARRAYS "AUTOGRAD_CY_ARRAYS"
        CODES "AUTOGRAD_CY_CODES"
        NUMBERS "AUTOGRAD_CY_NUMBERS"
        STORES "AUTOGRAD_CY_STORES"

ctypedef void (*Emptier)(void *store) noexcept

cdef void declare_store(int kind, size_t size, Emptier emptier) noexcept
cdef void *own_store(int kind) noexcept
