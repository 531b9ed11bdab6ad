"""GradientEdge: where a gradient arrives, as users name it (knows no node)."""

from collections import namedtuple
from typing import Any


class GradientEdge(namedtuple("GradientEdge", "node output_nr ownership_token", defaults=(None,))):
    """Where a gradient arrives: the node, and which of its outputs the gradient belongs to.

    It serves as a root or an input of backward() and grad(), and does not keep the tensor's memory alive.

    >>> import autograd_cy as ag
    >>> edge = ag.autograd.graph.get_gradient_edge(ag.ones(1, requires_grad=True).exp())
    >>> edge.node, edge.output_nr
    (<ExpBackward0>, 0)
    """

    metadata: Any = None  # shape and dtype of the gradient; an edge built by hand does not know them
