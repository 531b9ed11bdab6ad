"""Results that are written into `out`."""

# in out_argument.pyx
cdef object call_into(object function, tuple args, dict kwargs)
