"""Discrete Fourier transforms, also of short times."""

from autograd_cy._core.graph.tensor cimport Tensor

# in transforms.pyx
cdef Tensor transformed(Tensor x, tuple dims, int normalization, bint forward)
cdef Tensor half_of_real(Tensor x, tuple dims, int normalization)
cdef Tensor real_of_half(Tensor x, tuple dims, int normalization, long long size)
cdef Tensor given(object input, str name)
cdef Tensor real_given(object input, str name)
cdef Tensor complex_given(object input, str name)
cdef int code_of_norm(object norm, bint forward) except -1
cdef int one_dim(Tensor x, object dim) except -1
cdef long long checked(long long size) except -1
cdef tuple dims_and_sizes(Tensor x, object s, object dim)
cdef Tensor with_sizes(Tensor x, tuple dims, tuple sizes)
cdef Tensor resized(Tensor x, int dim, long long size)
