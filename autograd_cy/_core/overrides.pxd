"""The override protocol: objects and subclasses of Tensor that define `__torch_function__`."""

from autograd_cy._core.tensor cimport UnaryFunction

cdef UnaryFunction aliased              # parts.pyx fills it in
cdef object declined(str name, object left, object right)
cdef int check_depth(int depth) except -1
