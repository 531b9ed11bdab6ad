"""What a thread keeps for itself where Python has no GIL."""

cdef enum:
    TENSORS = 0
    NODES = 1
    ARRAYS = 2
    CODES = 3
    NUMBERS = 4
    STORES = 5

ctypedef void (*Emptier)(void *store) noexcept

cdef void declare_store(int kind, size_t size, Emptier emptier) noexcept
cdef void *own_store(int kind) noexcept
