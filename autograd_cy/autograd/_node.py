"""Node, the abstract base of all nodes of a graph, and what their gradients are like (facade)."""

import abc
from collections.abc import Callable
from typing import Any

from .._core.graph import node
from .._types import device


class InputMetadata:
    """What the gradient for an output of a node is like: its shape, a list as in PyTorch, its dtype and device."""

    is_nested_tensor = is_cpp_nested_tensor = False
    device = device("cpu")

    def __init__(self, shape: Any, dtype: Any):
        self.shape, self.dtype = list(shape), dtype


class Node(abc.ABC):
    """One recorded operation, as ``tensor.grad_fn`` leads to it: the abstract base of all nodes.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> isinstance((x * 2).grad_fn, ag.autograd.graph.Node), isinstance(x, ag.autograd.graph.Node)
    (True, False)
    """

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        return True if cls is Node and issubclass(subclass, node.Node) else NotImplemented

    @abc.abstractmethod
    def name(self) -> str:
        """The name of the operation: ``MulBackward0``."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple["Node | None", int], ...]:
        """The nodes that this one's gradients go to, each with the number of its output."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dict for notes of the user's own."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> tuple[Any, ...]:
        """For each output of the operation the shape, dtype and device that its gradient has."""

    @abc.abstractmethod
    def _sequence_nr(self) -> int:
        """The number of the node, in the order of recording."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> Any:
        """Let fn(grad_inputs, grad_outputs) be called after the node ran; returns the handle."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> Any:
        """Let fn(grad_outputs) be called before the node runs; returns the handle."""
