"""The active hooks on saved tensors."""


cdef class HookPair:
    """Two functions: one packs saved tensors, the other unpacks them."""
    cdef readonly object pack       # None: tensors are saved as they are
    cdef readonly object unpack
    cdef bint with_node
    cdef bint composes

cdef int put_hooks_back(void *before) except -1
cdef tuple active_pairs()
cdef object packed_by(HookPair pair, object data, object node, object slot)
cdef object unpacked_by(HookPair pair, object data, object node, object slot)
