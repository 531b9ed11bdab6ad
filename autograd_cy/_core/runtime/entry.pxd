"""The entry of public functions in Python, and explanations of wrong arguments."""

from cpython.object cimport PyObject

ctypedef PyObject *(*Watcher)(PyObject *, PyObject **, size_t, PyObject *) except? NULL

cdef int watch_entries(Watcher function, int by) except -1
cdef int explain_arguments(PyObject *function, size_t n, PyObject *names, PyObject **value) except -1
