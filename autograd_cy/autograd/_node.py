"""Node, the abstract base of all nodes of a graph, and the metadata of their gradients (facade)."""

import abc
from collections.abc import Callable
from typing import Any

from .._core.graph import node
from .._types import device


class InputMetadata:
    """The metadata of the gradient for a node's output: its shape (a list, as in PyTorch), dtype and device."""

    is_nested_tensor = is_cpp_nested_tensor = False
    device = device("cpu")

    def __init__(self, shape: Any, dtype: Any):
        self.shape, self.dtype = list(shape), dtype


class Node(abc.ABC):
    """One recorded operation, such as ``tensor.grad_fn``: the abstract base of all nodes.

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
        """The nodes that receive this node's gradients, each with an output number."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own data."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> tuple[Any, ...]:
        """For each output of the operation the shape, dtype and device that its gradient has."""

    @abc.abstractmethod
    def _sequence_nr(self) -> int:
        """The number of the node, in the order of recording."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> Any:
        """Call fn(grad_inputs, grad_outputs) after the node runs; returns the handle."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> Any:
        """Call fn(grad_outputs) before the node runs; returns the handle."""
