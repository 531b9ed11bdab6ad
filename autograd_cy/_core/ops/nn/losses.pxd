"""Losses of elements, labels, margins and alignments."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.label_loops cimport Totals
from autograd_cy._core.runtime cimport numpy_api as cnp

# in losses.pyx
cdef int reduction_of(object reduction, object size_average, object reduce) except -1
cdef object reduced(object losses, int reduction)
cdef int check_real(Tensor x, str kernel) except -1

# in nll_loss.pyx

cdef class NllNode(Node):
    """The node of nll_loss, of its gradient and of cross_entropy. Constants: the input's sizes. Slot 1: target, 2: weight."""
    cdef long long ignore_index
    cdef int reduction
    cdef double total_weight

    cdef cnp.ndarray gradient_array(self, cnp.ndarray g)
    cdef cnp.ndarray weights(self)
    cdef double divisor(self) noexcept
    cdef Tensor gradient(self, Tensor g)
    cdef Tensor loss(self, Tensor x)
    cdef int note(self, Tensor target, Tensor weight, int reduction, long long ignore_index, double total_weight) except -1


cdef int check_target(Tensor x, Tensor target) except -1
cdef int check_weight(Tensor x, Tensor weight) except -1
cdef cnp.ndarray total_loss(const Totals *totals, int reduction, int dtype_code)
cdef object nll_loss_of(object input, object target, object weight, int reduction, long long ignore_index)
