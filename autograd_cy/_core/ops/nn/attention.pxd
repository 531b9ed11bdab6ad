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

cdef object resized(Node node)
cdef cnp.ndarray mask_array(Tensor mask, tuple sizes, int dtype_code, Py_ssize_t columns)
cdef bint has_gradient(Tensor mask) except -1
cdef bint fits(Tensor mask, tuple sizes, Py_ssize_t columns) except -1
cdef object probabilities(object q, object k, object mask, double scale, bint causal)
cdef object score_gradient(object g, object y, object v, double scale)
cdef object query_gradient(object slopes, object k)
cdef object key_gradient(object slopes, object q)
cdef object value_gradient(object g, object y)
cdef Tensor by_blocks(Tensor query, Tensor key, Tensor value, Tensor mask, bint causal, double scale, object given_scale)
