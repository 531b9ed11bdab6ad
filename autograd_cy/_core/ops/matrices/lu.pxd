"""LU decompositions in one matrix."""

cdef tuple unpacked(object lu)
