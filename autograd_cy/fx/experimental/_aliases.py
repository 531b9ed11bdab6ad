"""What functionalize() knows of tensors: what they share, of what they are views, and where their elements are (facade)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.batching.batched import all_samples, levels_of
from ..._core.graph.tensor import Tensor, array_of, from_array
from ..._core.writes.inplace import shares_elements
from ..._creation.strided import empty_strided
from ..._ops import ops
from ...utils._pytree import tree_map
from ..node import Node
from ._regions import Part, Region, parts_of, region_of

aten = ops.aten


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
        name, new = name_of(self.call[0]), self.recording.new
        if not self.same_type:
            raise NotImplementedError(f"functionalize(): a write through {name}(), a view of another dtype")
        region = region_of(self.shape, self._part_of_array)
        if region.is_crowded:
            raise NotImplementedError(f"functionalize(): a write through {name}(), a view with elements that share memory")
        if 0 in region.sizes:
            return parent
        if region.is_whole(self.shape):
            return self._reshaped(self._in_order(region, value), region, self.shape)
        parts = parts_of(region, self.shape)
        if parts is not None:
            ordered = self._in_order(region, value)
            return self._put_parts(parent, self._reshaped(ordered, region, tuple(p.size for p in parts)), parts)
        if hasattr(aten, f"{name}_scatter"):
            _, args, kwargs = self.call
            others = {key: x for key, x in kwargs.items() if x is not self.of}
            return new(getattr(aten, f"{name}_scatter"), parent, value, *[x for x in args if x is not self.of], **others)
        numbers = new(aten.reshape, new(aten.arange, math.prod(self.shape)), self.shape)
        return new(aten.put, parent, self.again(numbers), value)

    def _part_of_array(self, whole: np.ndarray) -> np.ndarray:
        """What the call gives of another array of the parent's shape."""
        function, args, kwargs = self.call
        of = from_array(whole)
        args, kwargs = tree_map(lambda x: of if x is self.of else x, (args, kwargs))
        found = function(*args, **kwargs)
        return array_of(found if self.part is None else found[self.part])

    def _in_order(self, region: Region, value: Node) -> Node:
        """The value with its dimensions in the order of the parent's."""
        if region.order == sorted(region.order):
            return value
        return self.recording.new(self.recording.view_packet("permute"), value, region.order)

    def _reshaped(self, value: Node, region: Region, shape: tuple[int, ...]) -> Node:
        """A value in the region's order with another shape."""
        if tuple(region.sizes[d] for d in region.order) == shape:
            return value
        return self.recording.new(aten.reshape, value, shape)

    def _put_parts(self, parent: Node, value: Node, parts: list[Part]) -> Node:
        """Put back by one dimension after another, the last one into what the others leave of the parent."""
        cut = [d for d, part in enumerate(parts) if part.size < self.shape[d]]
        into = [parent]
        for d in cut[:-1]:
            place = (d, parts[d].start, parts[d].stop, parts[d].step)
            into.append(self.recording.new(self.recording.view_packet("slice"), into[-1], *place))
        for d, whole in zip(reversed(cut), reversed(into), strict=True):
            value = self.recording.new(aten.slice_scatter, whole, value, d, parts[d].start, parts[d].stop, parts[d].step)
        return value


def name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "_opname", None) or function.__name__


def place_of(x: Tensor) -> Any:
    """Where a tensor's elements are."""
    array = all_of(x)
    return array.__array_interface__["data"][0], array.shape, array.strides


def copy_of(value: Tensor) -> Tensor:
    """A copy that is no leaf, with the strides of the tensor, for what is a view of one and a copy of another layout."""
    own = value.detach().requires_grad_() if value.requires_grad else value
    if levels_of(value) or value.is_contiguous() or shares_elements(array_of(value)):  # crowded elements can't be written to
        return own.clone()
    return empty_strided(tuple(value.shape), value.stride(), dtype=value.dtype).copy_(own)


def all_of(x: Tensor) -> np.ndarray:
    """The array of a tensor; of all samples, within vmap."""
    return array_of(all_samples(x, levels_of(x)))


def version_of(x: Tensor) -> int:
    """How often a tensor's memory was written."""
    return all_samples(x, levels_of(x))._version


def share(x: Tensor, y: Tensor) -> bool:
    return bool(np.may_share_memory(all_of(x), all_of(y)))
