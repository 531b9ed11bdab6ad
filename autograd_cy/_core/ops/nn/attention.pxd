"""Attention: scaled dot products of queries, keys and values."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.attention_loops cimport Attention
from autograd_cy._core.runtime cimport numpy_api as cnp

# in attention_blocks.pyx

cdef class AttentionNode(Node):
    cdef cnp.ndarray sums           # the logarithm of each query's sum of exponentials
    cdef Tensor mask                # without gradient; or None
    cdef long mask_version

    cdef int keep(self, cnp.ndarray sums, Tensor mask) except -1
    cdef int check_mask(self) except -1
    cdef int check_sizes(self, const Attention *a) except -1
