"""The gradients that arrive at a node, summed."""

from autograd_cy._core.node cimport Node, Scratch
from autograd_cy._core.tensor cimport Tensor

cdef int add_gradient(Scratch *scratch, Node node, int output, object g, bint recorded) except -1
cdef int accumulate(Tensor leaf, object g, bint recorded) except -1
