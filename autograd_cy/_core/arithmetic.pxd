"""Arithmetic: the factor `alpha` of add and sub."""

cdef object scaled(object other, object alpha)
