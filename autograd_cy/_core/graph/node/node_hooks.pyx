"""Where the hooks of a node are kept: on the node, or on the leaf that an AccumulateGrad serves."""

from cpython.object cimport PyObject

from autograd_cy._core.graph.tensor cimport Tensor, TensorExtras, extras_of_tensor, has_extras, make_current
from autograd_cy._core.runtime.free_threading cimport is_unset, set_once

cdef extern from *:
    """
    #define hooks_slot(holder) ((PyObject **) &(holder)->hooks)
    """
    PyObject **hooks_slot(NodeExtras extras) noexcept
    PyObject **leaf_hooks_slot "hooks_slot"(TensorExtras extras) noexcept


cdef NodeHooks hooks_of(Node node):
    """The hooks of a node, made on demand. A leaf's hooks live with the leaf, which outlives its node."""
    if type(node) is AccumulateGrad:
        return hooks_of_tensor(leaf_of(node))
    cdef NodeExtras extras = extras_of(node)
    if is_unset(hooks_slot(extras)):
        set_once(extras, hooks_slot(extras), NodeHooks.__new__(NodeHooks))
    return extras.hooks


cdef NodeHooks hooks_of_tensor(Tensor tensor):
    """The hooks object on which the tensor's own hooks are registered."""
    make_current(tensor)
    if tensor.grad_fn is not None:
        return hooks_of(tensor.grad_fn)
    cdef TensorExtras extras = extras_of_tensor(tensor)
    if is_unset(leaf_hooks_slot(extras)):
        set_once(extras, leaf_hooks_slot(extras), NodeHooks.__new__(NodeHooks))
    return <NodeHooks> extras.hooks


cdef NodeHooks existing_hooks(Node node):
    """The hooks of a node, or None."""
    if type(node) is AccumulateGrad:
        return existing_hooks_of_leaf(leaf_of(node))
    return <NodeHooks> held_at(hooks_slot(<NodeExtras> node.extras)) if has_node_extras(node) else None


cdef NodeHooks existing_hooks_of_leaf(Tensor leaf):
    """The hooks kept on a leaf for its node, or None."""
    return <NodeHooks> held_at(leaf_hooks_slot(leaf.extras)) if has_extras(leaf) else None


def run_hooks(hooks, int output, tuple gradients):
    """The gradients after a dict of hooks on one of them ran."""
    g = gradients[output]
    for hook in list(hooks.values()):
        result = hook(g)
        if result is not None:
            g = result
    return gradients[:output] + (g,) + gradients[output + 1:]
