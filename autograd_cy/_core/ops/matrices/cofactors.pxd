"""The cofactors of matrices."""

cdef tuple cofactor_arrays(object array)
