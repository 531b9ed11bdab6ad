"""Where the hooks of a node are kept: on the node, or on the leaf that an AccumulateGrad serves."""

from autograd_cy._core.graph.accumulate_grad cimport AccumulateGrad
from autograd_cy._core.graph.node cimport Node, NodeHooks, has_node_extras
from autograd_cy._core.graph.tensor cimport Tensor


cdef NodeHooks hooks_of(Node node)
cdef NodeHooks existing_hooks(Node node)
cdef NodeHooks existing_hooks_of_leaf(Tensor leaf)
cdef NodeHooks hooks_of_tensor(Tensor tensor)

cdef inline bint has_hooks(Node node) noexcept:
    """Whether the node may have hooks (`existing_hooks` tells for sure)."""
    return has_node_extras(node) or type(node) is AccumulateGrad
