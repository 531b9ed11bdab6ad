"""Pooling and unpooling."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

# in pooling_sizes.pyx

cdef class Pooling:
    cdef readonly str operation
    cdef readonly tuple kernel, stride, padding, dilation
    cdef readonly tuple given_stride        # none: ()
    cdef readonly bint ceil_mode
    cdef tuple counts(self, Tensor x)


cdef int check_output_sizes(tuple sizes) except -1
cdef bint is_int(object value)

# in tapping.pyx

cdef class TapsNode(Node):
    cdef int gradient_format(self, cnp.ndarray g) except -1


cdef bint suggested(cnp.ndarray x, tuple taps, bint averaged) noexcept
cdef Tensor weighed(object node_class, tuple constants, Tensor x, object saved=*)

# in max_pooling.pyx

cdef class WindowMaxima(Node):
    cdef int dims(self) noexcept
    cdef int is_channels_last(self) except -1
    cdef bint keeps_format(self) noexcept


cdef class AdaptiveMaxPool2DBackward0(WindowMaxima):
    pass


cdef class AdaptiveMaxPool3DBackward0(WindowMaxima):
    pass


cdef tuple pooled(object node_class, Tensor x, tuple counts, tuple tables, tuple dilation, tuple constants, str kernel,
                  bint keeps=*)
