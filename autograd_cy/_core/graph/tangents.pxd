"""Tangents of tensors in forward mode: those that users gave, and those of results."""

from autograd_cy._core.graph.duals cimport Tangent
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor tangent_of(Tensor x)
cdef Tangent tangents_now(Tensor x)
cdef bint has_tangent(Tensor x) except -1
cpdef set_tangent(Tensor x, Tensor t)
cdef int set_tangents(Node node, object outputs, object inputs) except -1
