"""The entry of public functions in Python, and what is said of calls that a function does not take."""

from cpython.object cimport PyObject

cdef int explain_arguments(PyObject *function, size_t n, PyObject *names, PyObject **value) except -1
