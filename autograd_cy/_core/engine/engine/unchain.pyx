"""Cutting the history of tensors, for truncated backpropagation through time."""

from cpython.object cimport PyObject

from autograd_cy._core.graph.node cimport Node, NodeExtras, has_node_extras
from autograd_cy._core.graph.tensor cimport Tensor, make_current
from autograd_cy._core.runtime.free_threading cimport Hold, hold, let_go


cdef int cut(Node node) except -1:
    """Cut a node's edges. A backward that is walking over it finds the edges, but without targets."""
    cdef Hold section
    hold(&section, <PyObject *> node)
    try:
        return cut_held(node)
    finally:
        let_go(&section)


cdef int cut_held(Node node) except -1:
    """`cut`, with the node's lock held."""
    cdef NodeExtras extras = <NodeExtras> node.extras if has_node_extras(node) else None
    keep_for_running((node.next0, node.next1, node.next2))
    node.joint = False                  # so that no Function is called in vain
    node.leaf_edges = 0
    node.next0 = node.next1 = node.next2 = None
    if extras is not None and extras.edges is not None:
        keep_for_running(tuple(extras.edges))
        extras.edges[:] = [(None, 0)] * len(extras.edges)
    node.release_saved()
    return 0


cdef int make_leaf(Tensor tensor) except -1:
    keep_for_running((tensor.grad_fn,))
    tensor.grad_fn = None
    tensor.output_number = 0
    tensor.needs_grad = tensor.keeps_grad = False
    return 0


def unchain(Tensor tensor):
    """unchain(tensor) -> Tensor: make a computed tensor a leaf that requires no grad, and return it.

    Tensors computed from it keep their graph, but backward stops here. The other outputs of the same operation (of unbind,
    say) are cut off, too.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> state = x * 2
    >>> y = state * x
    >>> ag.autograd.graph.unchain(state)
    tensor([2.])
    >>> y.backward()
    >>> x.grad
    tensor([2.])
    """
    make_current(tensor)
    if tensor.grad_fn is not None:
        cut(tensor.grad_fn)
        make_leaf(tensor)
    return tensor


def unchain_backward(Tensor tensor):
    """unchain_backward(tensor) -> Tensor: unchain the tensor and everything that it was computed from.

    All memory that its graph held is freed, and backward stops at any tensor that was part of it. Call it on the loss after
    each backward, and continue with the state (like Chainer's method of that name).

    >>> import autograd_cy as ag
    >>> w = ag.ones(1, requires_grad=True)
    >>> state = ag.ones(1)
    >>> for step in range(3):
    ...     state = state * w
    ...     loss = state * 1
    ...     loss.backward()
    ...     ag.autograd.graph.unchain_backward(loss).item()
    1.0
    1.0
    1.0
    >>> w.grad
    tensor([3.])
    """
    cdef list nodes = []
    cdef set seen = set()
    cdef Node node, target
    cdef int i
    make_current(tensor)
    if tensor.grad_fn is None:
        return tensor
    nodes.append(tensor.grad_fn)
    seen.add(tensor.grad_fn)
    while nodes:
        node = <Node> nodes.pop()
        for i in range(node.n_edges):
            if i < 3 and node.leaf_edges & (1 << i):
                continue                    # a leaf, whose AccumulateGrad need not be made
            target = node.next_node(i)
            if target is not None and target not in seen:
                seen.add(target)
                nodes.append(target)
    for node in seen:
        if node.n_edges:
            cut(node)
    make_leaf(tensor)
    return tensor
