"""Views composed of other views."""

cdef tuple all_of(object first, tuple others)
