"""The graph in view: nodes and edges (facade)."""

from collections import namedtuple

from .._core.node import Node, gradient_node
from ._packers import save_as_half, save_on_disk
from ._saved_guard import allow_mutation_on_saved_tensors, guard_buffers
from ._saved_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "guard_buffers", "save_as_half", "save_on_cpu", "save_on_disk", "saved_tensors_hooks",
]  # fmt: skip

GradientEdge = namedtuple("GradientEdge", "node output_nr")
GradientEdge.__doc__ = """Where a gradient arrives: the node, and which of its outputs the gradient belongs to.

>>> import autograd_cy as ag
>>> edge = ag.autograd.graph.get_gradient_edge(ag.ones(1, requires_grad=True).exp())
>>> edge.node, edge.output_nr
(<ExpBackward0>, 0)
"""


def get_gradient_edge(tensor):
    """``get_gradient_edge(tensor)`` is the edge at which the tensor's gradient arrives.

    RuntimeError for a tensor that requires no gradient.

    >>> import autograd_cy as ag
    >>> ag.autograd.graph.get_gradient_edge(ag.ones(1, requires_grad=True) * 2)
    GradientEdge(node=<MulBackward0>, output_nr=0)
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients: "
            f"this one has shape {list(tensor.shape)} and requires_grad=False"
        )
    return GradientEdge(gradient_node(tensor), tensor.output_nr)
