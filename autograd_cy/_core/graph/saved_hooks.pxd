"""Which hooks pack what is saved."""


cdef class HookPair:
    """Two functions: one packs what is saved, the other gives it back."""
    cdef readonly object pack       # None: what is saved is kept as it is
    cdef readonly object unpack
    cdef bint with_node
    cdef bint composes

cdef int put_hooks_back(void *before) except -1
cdef tuple active_pairs()
cdef object packed_by(HookPair pair, object data, object node, object slot)
cdef object unpacked_by(HookPair pair, object data, object node, object slot)
