"""Convolutions, and the columns of their windows."""

# in kept_formats.pyx
cdef object in_format_of(object y, bint channels_last)
