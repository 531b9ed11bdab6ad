"""A node of a graph: one call, and which nodes it takes and serves (facade)."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, TypeAlias, Union, get_args

from .._core.arrays.dtypes import dtype as _dtype
from .._core.arrays.formats import memory_format as _memory_format
from .._core.graph.tensor import Tensor as _Tensor
from .._types import device as _device
from .._types.layout import layout as _layout
from ._names import qualified_name as _qualified_name
from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "base_types", "has_side_effect", "map_aggregate", "map_arg"]

_OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
_side_effects: set[Any] = set()

# For annotations: what a node calls, and what it is given. PyTorch's, which code compares with.
Target: TypeAlias = Union[Callable[..., Any], str]  # noqa: UP007
BaseArgumentTypes: TypeAlias = Union[  # noqa: UP007
    str, int, float, bool, complex, _dtype, _Tensor, _device, _memory_format, _layout
]
Argument: TypeAlias = Optional[  # noqa: UP045
    Union[
        tuple["Argument", ...], Sequence["Argument"], Mapping[str, "Argument"], slice, range, "Node", BaseArgumentTypes
    ]
]
base_types = get_args(BaseArgumentTypes)


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """``has_side_effect(fn)``: calls of the function are kept even if nothing uses their result; returns it."""
    _side_effects.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """``map_aggregate(a, fn)`` is fn of each item in nested tuples, lists, dicts and slices, nested the same way.

    >>> from autograd_cy.fx.node import map_aggregate
    >>> map_aggregate((1, [2, {"k": 3}]), lambda x: x + 1)
    (2, [3, {'k': 4}])
    """
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[["Node"], Any]) -> Any:
    """``map_arg(a, fn)`` is fn of each Node in nested containers; what is no Node stays as it is."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """One step of a graph: what is called (``op``, ``target``), with what (``args``, ``kwargs``), under which ``name``.

    Nodes are made by the methods of Graph. ``users`` are those that take this one; ``meta`` is a dict for passes.

    >>> import autograd_cy as ag
    >>> graph = ag.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(ag.add, (x, 1))
    >>> y.args, list(x.users), y.op
    ((x, 1), [add], 'call_function')
    """

    def __init__(
        self, graph: Any, name: str, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
        return_type: Any | None = None,
    ) -> None:  # fmt: skip
        if op not in _OPS:
            raise AssertionError(f"op {op!r} is none of {_OPS}")
        if op == "call_function" and not callable(target):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a Callable "
                             "is expected")  # fmt: skip
        if op not in ("call_function", "root") and not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a str is "
                             "expected")  # fmt: skip
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._update(args, kwargs)

    def _update(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        def note(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}
        self._args, self._kwargs = map_arg(tuple(args), note), map_arg(dict(kwargs), note)

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; assign to it to change them."""
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._update(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments by keyword; assign to it to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._update(self._args, kwargs)

    def update_arg(self, idx: int, arg: Any) -> None:
        """``update_arg(idx, arg)`` sets one positional argument."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """``insert_arg(idx, arg)`` puts an argument before that of this number."""
        if not 0 <= idx <= len(self._args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """``update_kwarg(key, arg)`` sets one argument by keyword."""
        self.kwargs = {**self._kwargs, key: arg}

    @property
    def all_input_nodes(self) -> list["Node"]:
        """The nodes that this one takes, each once."""
        return list(self._input_nodes)

    @property
    def next(self) -> "Node":
        """The node behind it."""
        return self._next

    @property
    def prev(self) -> "Node":
        """The node before it."""
        return self._prev

    @property
    def stack_trace(self) -> str | None:
        """Where the call was recorded, if the tracer noted that."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def prepend(self, x: "Node") -> None:
        """``prepend(x)`` moves x, of the same graph, before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x: "Node") -> None:
        """``append(x)`` moves x, of the same graph, behind this node."""
        self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    _remove_from_list = _unlink

    def replace_all_uses_with(
        self,
        replace_with: "Node",
        delete_user_cb: Callable[["Node"], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list["Node"]:
        """``replace_all_uses_with(node)``: the users of this node take the other; returns them. ``delete_user_cb(user)`` is
        False for those that don't."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input: "Node", new_input: "Node") -> None:
        """``replace_input_with(old, new)``: this node takes the one in the place of the other."""

        def swap(node: Node) -> Node:
            return new_input if node is old_input else node

        self._update(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def is_impure(self, impure_random: bool = True) -> bool:
        """``is_impure()``: whether the call does more than compute its result, so that it stays even without users."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            name = getattr(self.target, "__name__", "")
            writes = name.endswith("_") and not name.endswith("__")
            known = self.target in _side_effects or getattr(self.target, "_has_side_effects", False)
            return known or writes or "out" in self._kwargs
        if self.op == "call_method":
            return bool(self.target.endswith("_") and not self.target.endswith("__"))
        if self.op == "call_module" and self.graph.owning_module is not None:
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        return False

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        if getattr(target, "__module__", None) == "_operator":
            return f"operator.{target.__name__}"
        name = _qualified_name(target)
        return name if "." in name else f"builtins.{name}"

    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None
    ) -> str | None:
        """``format_node()`` is the node as printed graphs show it."""
        kind = f"{_type_name(self.type)} " if self.type else ""
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target="
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(self.target + (f": {_type_name(self.type)}" if self.type else ""))
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}{self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}{self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename is not None:
                maybe_return_typename[0] = f" -> {_type_name(self.type)}"
            return f"return {self.args[0]}"
        return (f"{head}{self._pretty_print_target(self.target)}](args = {_shown(self.args)}, "
                f"kwargs = {_shown(self.kwargs)})")  # fmt: skip

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: "Node") -> bool:
        order = {node: i for i, node in enumerate(self.graph.nodes)}
        return order[self] < order[other]


def _type_name(kind: Any) -> str:
    """A type as annotations show it."""
    if isinstance(kind, type) and not hasattr(kind, "__args__"):
        if kind.__module__ == "builtins":
            return kind.__name__
        return f"{kind.__module__}.{kind.__qualname__}".replace("autograd_cy", "torch", 1)
    return repr(kind).replace("autograd_cy", "torch")


def _shown(value: Any) -> str:
    """Arguments with nodes as %name, strings without quotes."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        items = [_shown(x) for x in value]
        if hasattr(value, "_fields"):
            return f"{type(value).__name__}({', '.join(f'{k}={x}' for k, x in zip(value._fields, items, strict=True))})"
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, list):
        return f"[{', '.join(_shown(x) for x in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(x)}" for key, x in value.items()) + "}"
    if isinstance(value, slice):
        return f"slice({_shown(value.start)}, {_shown(value.stop)}, {_shown(value.step)})"
    return str(value)


for _function in (operator.setitem, operator.delitem):
    has_side_effect(_function)
