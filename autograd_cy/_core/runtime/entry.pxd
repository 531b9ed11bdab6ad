"""Python functions and classes entered through C: one frame in errors, modules of nn by their slots."""

from cpython.object cimport PyObject

# in entry.pyx
ctypedef PyObject *(*Watcher)(PyObject *, PyObject **, size_t, PyObject *) except? NULL

cdef int watch_entries(Watcher function, int by) except -1
cdef int explain_arguments(PyObject *function, size_t n, PyObject *names, PyObject **value) except -1
