"""Convolutions, and the columns of their windows."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.patches cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

# in conv_arguments.pyx
cdef tuple integers(object value, str operation, str name, int position)
cdef tuple expanded(tuple values, str name, int n)
cdef int check_settings(tuple stride, tuple padding, tuple dilation, tuple output_padding, object groups) except -1
cdef int check_operands(tuple own, tuple weight, tuple bias, bint transposed, object groups) except -1
cdef int check_types(Tensor x, Tensor weight, Tensor bias, bint transposed) except -1
cdef tuple result_sizes(tuple own, tuple weight, tuple stride, tuple padding, tuple dilation)
cdef tuple transposed_sizes(tuple own, tuple weight, tuple stride, tuple padding, tuple dilation, tuple output_padding,
                            object groups)
cdef int check_memory(tuple sizes, str operation) except -1

# in conv_arrays.pyx
cdef Geometry geometry(tuple images, tuple weight, tuple result, tuple stride, tuple padding, tuple dilation,
                       object groups) except *
cdef cnp.ndarray convolved(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, tuple sizes,
                           bint channels_last)
cdef cnp.ndarray convolved_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, tuple sizes, bint channels_last)
cdef cnp.ndarray correlated(const Geometry *of, cnp.ndarray x, cnp.ndarray g, tuple sizes, bint channels_last)
cdef cnp.ndarray empty(int dtype_code, tuple sizes)
cdef cnp.ndarray summed(cnp.ndarray g, tuple sizes)
cdef cnp.ndarray computed(cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, tuple stride, tuple padding, tuple dilation,
                          bint transposed, object groups, tuple sizes, bint channels_last)
cdef bint goes_by_channels(const Geometry *of, bint channels_last) noexcept

# in convolution.pyx
cdef Tensor convolution_of(Tensor x, Tensor w, Tensor b, tuple stride, tuple padding, tuple dilation, bint transposed,
                           tuple output_padding, object groups, tuple without_bias)
