"""Handlers of calls: cases 7 to 9 of NOTE [Overrides] in overrides.pyx."""

from cpython.object cimport PyObject

cdef int n_handlers             # number of open `calls_handed_to`, of all threads; one more for the last handler
cdef object call_handler, sees_creations, last_handler

cdef bint has_handler() noexcept
cdef object handler_for(object arguments)
cdef object handler_of_creations(object arguments)
cdef PyObject *handled(object handler, object function, list arguments, tuple names) except? NULL
cdef object handled_call(object handler, object function, tuple args, dict kwargs)
cdef list arguments_of(PyObject **args, size_t n, PyObject *names)
cdef tuple keys_of(PyObject *names)
