"""Checks of the arguments of pooling operations, and the sizes of their results."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef class Pooling:
    cdef readonly str operation
    cdef readonly tuple kernel, stride, padding, dilation
    cdef readonly tuple given_stride        # none: ()
    cdef readonly bint ceil_mode
    cdef tuple counts(self, Tensor x)


cdef tuple ints_argument(object value, str operation, str name, int position)
cdef tuple output_sizes(object output_size, Tensor x, int dims, str operation)
cdef int check_output_sizes(tuple sizes) except -1
cdef int check_planes(Tensor x, int dims, str text) except -1
cdef int check_not_empty(Tensor x, str text) except -1
cdef npy_intp count_of(npy_intp n, npy_intp kernel, npy_intp stride, npy_intp padding, npy_intp dilation, bint ceil_mode)
cdef str listed(tuple sizes)
cdef bint is_int(object value)
