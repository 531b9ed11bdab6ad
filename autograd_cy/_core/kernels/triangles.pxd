"""Systems with triangular matrices."""

cdef object solved_triangles(object a, object b, bint upper, bint unit)
