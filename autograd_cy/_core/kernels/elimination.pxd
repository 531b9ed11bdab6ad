"""LU decompositions with partial pivoting, and their linear systems."""

cdef tuple eliminated(object array)
cdef object solved_eliminated(object lu, object pivots, object b, bint turned)
cdef object signs_of(object pivots)
cdef object row_order(object pivots, Py_ssize_t rows)
