"""The gradients that arrive at a node, summed."""

from autograd_cy._core.graph.node cimport Node, Scratch
from autograd_cy._core.graph.tensor cimport Tensor

cdef int add_gradient(Scratch *scratch, Node node, int output, object g, bint recorded) except -1
cdef bint add_at_once(Scratch *scratch, Node node, int i, object g, bint reuse) except -1
cdef int accumulate(Tensor leaf, object g, bint recorded) except -1
cdef bint accumulate_at_once(Tensor leaf, Node node, int i, object g) except -1
cdef object as_leaf_asks(Tensor leaf, object g, bint recorded)
