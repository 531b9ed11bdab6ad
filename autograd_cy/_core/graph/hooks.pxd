"""Running a node's hooks and checking their results."""

from autograd_cy._core.graph.node cimport Node, NodeHooks
from autograd_cy._core.graph.tensor cimport Tensor

cdef object run_tensor_hooks(NodeHooks hooks, int output, Tensor g)
cdef tuple run_pre_hooks(NodeHooks hooks, tuple gradients)
cdef tuple run_post_hooks(NodeHooks hooks, tuple results, tuple gradients)
cpdef retain_grad(Tensor tensor)
cdef int keep_retained(NodeHooks hooks, int output, Tensor g, bint recorded) except -1
cdef int retain_at(Node node, int output, Tensor tensor) except -1
cdef NodeHooks retained_at(Tensor tensor)
cdef void drop_retained(NodeHooks hooks, object output) noexcept
cdef int run_post_accumulate_hooks(NodeHooks hooks, Tensor leaf) except -1
