"""Objects and subclasses of Tensor that define `__torch_function__`."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor alias(Tensor x)
cdef list overriding(object arguments, bint tensors)
cdef object class_of_results(list found)
cdef object hand_over(object function, list found, tuple args, dict kwargs)
cdef object answer_of(object function, list found, tuple args, dict kwargs)
cdef object in_class(object result, object cls, int depth=*)
cdef str path_of(object function)
