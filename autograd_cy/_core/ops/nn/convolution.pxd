"""Convolutions of tensors that are not batched."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor convolution_of(Tensor x, Tensor w, Tensor b, tuple stride, tuple padding, tuple dilation, bint transposed,
                           tuple output_padding, object groups, tuple without_bias)
