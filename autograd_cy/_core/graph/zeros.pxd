"""Gradients that are zero under safe_where()."""

cdef object zeroed(object result, object zeros)
cdef object all_zero(object gradients)
