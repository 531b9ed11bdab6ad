"""What becomes of gradients that are zero."""

cdef object zeroed(object result, object zeros)
cdef object all_zero(object gradients)
