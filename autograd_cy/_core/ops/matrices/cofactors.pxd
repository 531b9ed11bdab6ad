"""The cofactors of matrices."""

cdef object cofactor_arrays(object array)
