"""Summing the gradients that arrive at a node."""

from autograd_cy._core.graph.node cimport Node, Request, Scratch
from autograd_cy._core.graph.tensor cimport Tensor

cdef int add_gradient(Scratch *scratch, Node node, int output, object g, bint recorded) except -1
cdef object vjp_into_buffer(Scratch *scratch, Node node, int i, object g, Request *request)
cdef int accumulate(Tensor leaf, object g, bint recorded) except -1
cdef int check_accumulate(Tensor leaf, object g, bint recorded) except -1
cdef object vjp_into_grad(Tensor leaf, Node node, int i, object g, Request *request)
cdef object as_leaf_asks(Tensor leaf, object g, bint recorded)
