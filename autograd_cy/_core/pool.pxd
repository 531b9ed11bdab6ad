"""The pool that large result arrays get their memory from."""

from cpython.object cimport PyObject

cdef enum:
    LARGE = 65536       # bytes from which on an array's memory comes from the pool

cdef PyObject *enter_pool() except? NULL
cdef int leave_pool(PyObject *previous) except -1
