"""Reference cycles through tensors and nodes, with the references that form them (facade)."""

import gc
import types
from collections.abc import Iterator, Sequence
from typing import Any

from .._core.graph.node import Node
from .._core.graph.tensor import Tensor

# Modules, classes and code are not part of a graph; the objects that they hold (all globals) are reachable from anywhere.
OUTSIDE = (types.ModuleType, type, types.CodeType, types.BuiltinFunctionType)


class Cycle(tuple[Any, ...]):
    """A reference cycle: each of its objects holds the next, and the last holds the first. str() shows the path.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> x.double = x * 2
    >>> ag.autograd.graph.find_cycles(x)
    [Tensor of shape []
      .double: Tensor of shape []
      .grad_fn: <MulBackward0>
      saved or input: Tensor of shape [] (the first again)]
    """

    def __new__(cls, objects: Sequence[Any]) -> "Cycle":
        return super().__new__(cls, objects)

    def __str__(self) -> str:
        lines = [describe(self[0])]
        label = ""
        for holder, held in zip(self, [*self[1:], self[0]], strict=True):
            label += step(holder, held)
            if not is_link(held) or held is self[0]:
                end = " (the first again)" if held is self[0] else ""
                lines.append(f"  {label.strip()}: {describe(held)}{end}")
                label = ""
        return "\n".join(lines)

    __repr__ = __str__


def find_cycles(tensor: Any, limit: int = 1_000_000) -> list[Cycle]:
    """``find_cycles(tensor)`` lists the reference cycles through tensors and nodes that can be reached from a tensor or node.

    Each is a tuple of its objects and prints as the path: tensors, nodes, hooks, closure variables, attributes of a ctx.
    Such cycles don't leak, but their memory waits for gc.collect(). Operations alone record no cycles. For each group of
    objects that hold each other, one shortest cycle is shown. The result keeps the objects alive. RuntimeError if there
    are more objects than `limit`.

    >>> import autograd_cy as ag
    >>> def doubled(x):
    ...     y = x * 2
    ...     y.register_hook(lambda g: g * y.detach())
    ...     return y
    >>> (cycle,) = ag.autograd.graph.find_cycles(doubled(ag.tensor(1.0, requires_grad=True)))
    >>> print(cycle)
    Tensor of shape []
      .grad_fn: <MulBackward0>
      hook: function <lambda>
      closure variable y: Tensor of shape [] (the first again)
    """
    if not isinstance(tensor, (Tensor, Node)):
        raise TypeError(f"find_cycles(): expected a Tensor or a node, but got {type(tensor).__name__}")
    found = []
    for group in groups_that_hold_each_other(tensor, limit):
        starts: list[Any] = [tensor] if id(tensor) in group else [x for x in group.values() if isinstance(x, Tensor)]
        starts = starts or [x for x in group.values() if isinstance(x, Node)]
        if starts:
            found.append(Cycle(shortest_cycle(starts[0], group)))
    return found


def held_by(holder: Any) -> list[Any]:
    """The objects held by one object that can be part of a cycle."""
    if isinstance(holder, types.FunctionType):
        # not its globals, which hold everything that the module defines
        held = [*(holder.__closure__ or ()), *(holder.__defaults__ or ()), holder.__kwdefaults__, vars(holder)]
    elif isinstance(holder, OUTSIDE):
        held = []
    else:
        held = gc.get_referents(holder)
    return [x for x in held if not isinstance(x, OUTSIDE) and can_hold(x)]


def can_hold(x: Any) -> bool:
    """Whether an object can be in a cycle (tensors and nodes can, even before the collector tracks them)."""
    return isinstance(x, (Tensor, Node)) or gc.is_tracked(x) or isinstance(x, (tuple, dict, list, types.CellType))


def groups_that_hold_each_other(start: Any, limit: int) -> Iterator[dict[int, Any]]:
    """The strongly connected groups with a cycle, by Tarjan's algorithm (Depth-first search, 1972) without recursion."""
    numbers: dict[int, int] = {id(start): 0}
    lowest: dict[int, int] = {id(start): 0}
    pending: dict[int, Any] = {id(start): start}  # visited, group not complete yet, in order of the visit
    keep = [start]  # ids stay valid
    path = [(start, iter(held_by(start)))]
    while path:
        holder, rest = path[-1]
        key = id(holder)
        for x in rest:
            if id(x) not in numbers:
                if len(numbers) >= limit:
                    raise RuntimeError(f"find_cycles(): more than {limit} objects can be reached; raise `limit`")
                numbers[id(x)] = lowest[id(x)] = len(numbers)
                pending[id(x)] = x
                keep.append(x)
                path.append((x, iter(held_by(x))))
                break
            if id(x) in pending:
                lowest[key] = min(lowest[key], numbers[id(x)])
        else:
            path.pop()
            if path:
                above = id(path[-1][0])
                lowest[above] = min(lowest[above], lowest[key])
            if lowest[key] == numbers[key]:
                group = {}
                while key not in group:
                    member, x = pending.popitem()
                    group[member] = x
                if len(group) > 1 or any(x is holder for x in held_by(holder)):
                    yield dict(reversed(group.items()))


def shortest_cycle(start: Any, group: dict[int, Any]) -> list[Any]:
    """The objects on a shortest path within a group from one object back to itself."""
    came_from: dict[int, Any] = {}
    level = [start]
    while level:
        following = []
        for holder in level:
            for x in held_by(holder):
                if x is start:
                    way = [holder]
                    while way[-1] is not start:
                        way.append(came_from[id(way[-1])])
                    return way[::-1]
                if id(x) in group and id(x) not in came_from:
                    came_from[id(x)] = holder
                    following.append(x)
        level = following
    raise AssertionError("no cycle in the group")


# in words


def is_link(x: Any) -> bool:
    """Whether an object is only part of another, and gets no line of its own."""
    if isinstance(x, (tuple, list, dict, types.CellType)):
        return True
    return type(x).__module__.startswith("autograd_cy._core") and not isinstance(x, (Tensor, Node))


def describe(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"Tensor of shape {list(x.shape)}"
    if isinstance(x, Node):
        return repr(x)
    if isinstance(x, types.FunctionType):
        return f"function {x.__qualname__.rpartition('<locals>.')[2]}"
    if isinstance(x, types.MethodType):
        return f"method {x.__qualname__}"
    return f"{type(x).__name__} object"


def step(holder: Any, held: Any) -> str:
    """The reference by which one object holds another."""
    name = next((key for key, value in getattr(holder, "__dict__", {}).items() if value is held), None)
    if name is not None:  # some versions of Python report an attribute's value as held by the object itself
        return f" .{name}"
    if isinstance(holder, Tensor):
        return " " + step_from_tensor(holder, held)
    if isinstance(holder, Node):
        return "" if is_link(held) else " next function" if isinstance(held, Node) else " saved or input"
    if isinstance(holder, types.FunctionType):
        return " " + step_from_function(holder, held)
    if isinstance(holder, dict):
        name = next((key for key, value in holder.items() if value is held), None)
        return f" .{name}" if isinstance(name, str) else " hook" if callable(held) else ""
    if isinstance(holder, (list, tuple)):
        return "".join(f"[{i}]" for i, x in enumerate(holder) if x is held)[:20]
    return "" if is_link(holder) else " holds"


def step_from_tensor(tensor: Tensor, held: Any) -> str:
    if held is tensor.grad_fn:
        return ".grad_fn"
    if tensor.is_leaf and held is tensor.grad:
        return ".grad"
    return ""


def step_from_function(function: types.FunctionType, held: Any) -> str:
    cells = function.__closure__ or ()
    names = [name for name, cell in zip(function.__code__.co_freevars, cells, strict=True) if cell is held]
    if names:
        return f"closure variable {names[0]}"
    return "default argument" if held is not vars(function) else ""
