"""Calls that subclasses, function modes and the profiler take over."""

from cpython.object cimport PyObject

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.recording.events cimport Span

# in subclasses.pyx
cdef Tensor alias(Tensor x)
cdef list overriding(object arguments, bint tensors)
cdef object class_of_results(list found)
cdef object hand_over(object function, list found, tuple args, dict kwargs)
cdef object answer_of(object function, list found, tuple args, dict kwargs)
cdef object in_class(object result, object cls, int depth=*)
cdef str path_of(object function)

# in watched_calls.pyx
cdef Span begin_call(PyObject *function, PyObject **operands, Py_ssize_t n) except *
cdef int end_call(Span span, PyObject *result) except -1

# in handlers.pyx
cdef int n_handlers             # number of open `calls_handed_to`, of all threads; one more for the last handler
cdef object call_handler, sees_creations, last_handler

cdef bint has_handler() noexcept
cdef object handler_for(object arguments)
cdef object handler_of_creations(object arguments)
cdef PyObject *handled(object handler, object function, list arguments, tuple names) except? NULL
cdef object handled_call(object handler, object function, tuple args, dict kwargs)
cdef list arguments_of(PyObject **args, size_t n, PyObject *names)
cdef tuple keys_of(PyObject *names)

# in keywords.pyx
cdef bint has_another_meaning(object function, list args, tuple names) except -1
cdef object as_numbers(object arguments, bint inside=*)
cdef object called_otherwise(object function, tuple args, dict kwargs)

# in overrides.pyx
cdef object declined(int k, object left, object right)
cdef object declined_by(object function, object left, object right)
cpdef int arm() except -1
cdef int watch(bint on) except -1
