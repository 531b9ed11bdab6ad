"""Checks of the arguments of convolutions."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef tuple integers(object value, str operation, str name, int position)
cdef tuple expanded(tuple values, str name, int n)
cdef int check_settings(tuple stride, tuple padding, tuple dilation, tuple output_padding, object groups) except -1
cdef int check_operands(tuple own, tuple weight, tuple bias, bint transposed, object groups) except -1
cdef int check_types(Tensor x, Tensor weight, Tensor bias, bint transposed) except -1
cdef tuple result_sizes(tuple own, tuple weight, tuple stride, tuple padding, tuple dilation)
cdef tuple transposed_sizes(tuple own, tuple weight, tuple stride, tuple padding, tuple dilation, tuple output_padding,
                            object groups)
cdef int check_memory(tuple sizes, str operation) except -1
