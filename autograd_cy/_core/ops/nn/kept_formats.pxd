"""Results of operations in the memory format that an input suggests."""

cdef object in_format_of(object y, bint channels_last)
