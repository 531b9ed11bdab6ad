"""Keys of what the core draws itself."""

cdef object new_key()
