"""Nodes of max pooling."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor


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
cdef object chosen(tuple results, object return_indices)
