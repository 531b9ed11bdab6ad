"""The argument out= of public operations."""

cdef object call_into(object function, tuple args, dict kwargs)
