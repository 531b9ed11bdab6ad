"""What becomes of gradients that are zero."""

cdef object zeroed(object result, object zeros)
cdef object all_zero(object gradients)
cdef bint may_have_nan(object x) except -1
cdef bint any_nan(tuple tangents) except -1
