"""What functionalize() knows of tensors: what they share, of what they are views, and where their elements are (facade)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.batching.batched import all_samples, levels_of
from ..._core.graph.tensor import Tensor, array_of, from_array
from ..._ops import ops
from ..._strided import empty_strided
from ...utils._pytree import tree_map
from ..node import Node

aten = ops.aten
OWN_INVERSE = ("t", "transpose", "swapaxes", "swapdims")  # views that are undone by themselves


class Memory:
    """What tensors share: the node that has its value, and how often it was written."""

    def __init__(self, node: Node, is_found: bool = False) -> None:
        self.node, self.is_found, self.writes = node, is_found, 0


class Alias:
    """A tensor: all of a memory, or a view of another alias."""

    def __init__(self, memory: Memory, node: Node, parent: "Alias | None" = None, view: "View | None" = None) -> None:
        self.memory, self.node, self.parent, self.view, self.writes = memory, node, parent, view, memory.writes


class View:
    """A call that gave a view of one of its arguments: how it is made again, and how a value of it is put back."""

    def __init__(self, recording: Any, call: tuple[Any, Any, Any], of: Tensor, part: int | None, result: Tensor):
        self.recording, self.of, self.part = recording, of, part
        self.shape, self.own_shape, self.same_type = tuple(of.shape), tuple(result.shape), of.dtype == result.dtype
        self.nodes: dict[int, Node] = {}  # of indices and the like, as they were
        self.call = (call[0], *tree_map(self._as_it_was, call[1:]))

    def _as_it_was(self, x: Any) -> Any:
        if not isinstance(x, Tensor) or x is self.of:
            return x
        copy = x.detach().clone()
        self.nodes[id(copy)] = self.recording.current(x)
        return copy

    def again(self, parent: Node) -> Node:
        if name_of(self.call[0]) in ("view", "view_as") and self.same_type:  # the parent may have another layout now
            return self.recording.new(aten.reshape, parent, self.own_shape)
        if name_of(self.call[0]) == "as_strided":
            parent = self.recording.new(aten.contiguous, parent)
        node = self.recording.view_node(self.call, {**self.nodes, id(self.of): parent})
        return node if self.part is None else self.recording.part_of(node, self.part)

    def put_back(self, parent: Node, value: Node) -> Node:
        """The parent's value with this one in the place of the view."""
        function, args, kwargs = self.call
        if not self.same_type:
            raise NotImplementedError(f"functionalize(): a write through {function.__name__}(), a view of another dtype")
        new, name, count = self.recording.new, name_of(function), math.prod(self.shape)
        positions = self._positions().ravel()
        if np.array_equal(positions, np.arange(count)):
            return new(aten.reshape, value, self.shape)
        if len(np.unique(positions)) != len(positions):
            raise NotImplementedError(f"functionalize(): a write through {name}(), a view with elements that share memory")
        if name in OWN_INVERSE:
            return new(self.recording.view_packet(name), value, *args[1:], **kwargs)
        if name in ("select", "diagonal"):
            return new(getattr(aten, f"{name}_scatter"), parent, value, *args[1:], **kwargs)
        numbers = new(aten.reshape, new(aten.arange, count), self.shape)
        return new(aten.put, parent, self.again(numbers), value)

    def _positions(self) -> np.ndarray:
        """Where the elements of the view are among those of the parent, which are counted in order."""
        function, args, kwargs = self.call
        numbers = from_array(np.arange(math.prod(self.shape)).reshape(self.shape))
        args, kwargs = tree_map(lambda x: numbers if x is self.of else x, (args, kwargs))
        found = function(*args, **kwargs)
        return array_of((found if self.part is None else found[self.part]).detach().contiguous())


def name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "_opname", None) or function.__name__


def place_of(x: Tensor) -> Any:
    """Where a tensor's elements are; within vmap that is not asked."""
    if levels_of(x):
        return None
    array = array_of(x)
    return array.__array_interface__["data"][0], array.shape, array.strides


def copy_of(value: Tensor) -> Tensor:
    """A copy that is no leaf, with the strides of the tensor, for what is a view of one and a copy of another layout."""
    own = value.detach().requires_grad_() if value.requires_grad else value
    if levels_of(value) or value.is_contiguous():
        return own.clone()
    array = array_of(value)
    if len(np.unique(_places(array))) != array.size:  # elements share memory: nobody may write to them
        return own.clone()
    return empty_strided(tuple(value.shape), value.stride(), dtype=value.dtype).copy_(own)


def _places(array: np.ndarray) -> np.ndarray:
    """Where each element is, in bytes from the first one."""
    places = np.zeros((), np.intp)
    for n, stride in zip(array.shape, array.strides, strict=True):
        places = np.add.outer(places, np.arange(n) * stride)
    return places


def all_of(x: Tensor) -> np.ndarray:
    """The array of a tensor; of all samples, within vmap."""
    return array_of(all_samples(x, levels_of(x)))


def share(x: Tensor, y: Tensor) -> bool:
    return bool(np.may_share_memory(all_of(x), all_of(y)))
