"""Calls of operations as events of the profiler."""

from cpython.object cimport PyObject

from autograd_cy._core.recording.events cimport Span

cdef Span begin_call(PyObject *function, PyObject **operands, Py_ssize_t n) except *
cdef int end_call(Span span, PyObject *result) except -1
