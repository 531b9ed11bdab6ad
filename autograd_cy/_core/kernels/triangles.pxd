"""Triangular linear systems."""

ctypedef float complex complex64
ctypedef double complex complex128
ctypedef fused number:
    float
    double
    complex64
    complex128

cdef object solved_triangles(object a, object b, bint upper, bint unit)
cdef int substitute(object a, object x, bint upper, bint unit) except -1
