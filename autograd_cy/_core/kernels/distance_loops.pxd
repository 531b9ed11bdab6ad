"""Euclidean distances between the rows of two matrices."""

cdef object distances(object a, object b)
cdef object pulls(object a, object b, object g, object y)
