"""Calls that subclasses, function modes and the profiler take over."""

from autograd_cy._core.graph.tensor cimport Tensor

# in subclasses.pyx
cdef Tensor alias(Tensor x)
cdef object in_class(object result, object cls, int depth=*)

# in handlers.pyx
cdef int n_handlers             # number of open `calls_handed_to`, of all threads; one more for the last handler
cdef object call_handler, sees_creations, last_handler

cdef bint has_handler() noexcept

# in keywords.pyx
cdef object as_numbers(object arguments, bint inside=*)

# in overrides.pyx
cdef object declined(int k, object left, object right)
cdef object declined_by(object function, object left, object right)
cdef int watch(bint on) except -1
