"""The override protocol: objects and subclasses of Tensor that define `__torch_function__`."""

from autograd_cy._core.graph.tensor cimport UnaryFunction

cdef UnaryFunction aliased              # ops/indexing/slicing.pyx fills it in
cdef object declined(int k, object left, object right)
cdef object declined_by(object function, object left, object right)
cdef bint hands_over() noexcept
