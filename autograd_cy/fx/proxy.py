"""Proxies: what stands for the values of a function that is traced, and what records their calls (facade)."""

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .._core.graph.tensor import Tensor
from ._names import default_arguments as _default_arguments
from .graph import Graph
from .node import Argument as Argument
from .node import Node, map_aggregate
from .node import Target as Target

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]


class TraceError(ValueError):
    """What a traced function does that depends on values, of which there are none.

    >>> import autograd_cy as ag
    >>> try:
    ...     ag.fx.symbolic_trace(lambda x: 1 if x > 0 else 2)
    ... except ag.fx.proxy.TraceError as error:
    ...     print(str(error).partition(' be ')[0])
    symbolically traced variables cannot
    """


class TracerBase:
    """What makes nodes of calls; a subclass decides what becomes of arguments and of questions about values."""

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False

    def create_node(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:  # fmt: skip
        """``create_node(kind, target, args, kwargs)`` puts a node into the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> "Proxy":
        """``proxy(node)``: the Proxy of a node."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any | None = None, proxy_factory_fn: Callable[[Node], Any] | None = None,
    ) -> Any:  # fmt: skip
        """``create_proxy(kind, target, args, kwargs)``: the Proxy of a new node that takes the arguments' proxies."""
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        if self.record_stack_traces:
            import traceback

            node.stack_trace = "".join(traceback.format_list(traceback.extract_stack()[:-2]))
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """``create_arg(a)``: an argument as nodes keep it, with the node of each proxy; NotImplementedError for others."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*[self.create_arg(x) for x in a])
        if isinstance(a, (tuple, list)):
            return type(a)([self.create_arg(x) for x in a])
        if isinstance(a, dict):
            for key in a:
                if isinstance(key, Proxy):
                    raise RuntimeError(
                        f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key} of a node"
                    )
            return {key: self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, (Node, int, float, complex, str, bytes, type(None), type(...), type)) or _is_constant(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: "Proxy") -> bool:
        """``to_bool(proxy)``: asked where a proxy decides; TraceError."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: "Proxy") -> Iterator[Any]:
        """``iter(proxy)``: items where as many names are on the left; else TraceError, for their number is unknown."""
        frame = sys._getframe(2)
        instruction = _instruction_at(frame.f_code, frame.f_lasti)
        if instruction is not None and instruction.opname == "UNPACK_SEQUENCE":
            return (obj[i] for i in range(int(instruction.argval)))
        raise TraceError(
            "Proxy object cannot be iterated: the number of its items is unknown where a function is traced. Write as many "
            "names on the left, or take items by index"
        )

    def keys(self, obj: "Proxy") -> Any:
        """``keys(proxy)``: what ``**proxy`` asks; a call of its method keys()."""
        return Attribute(obj, "keys")()


def _is_constant(a: Any) -> bool:
    """Whether an argument is one that code can name: a dtype, a device, a layout, a function."""
    kind = type(a)
    return kind.__name__ in ("dtype", "device", "layout", "memory_format", "Size") or callable(a)


def _instruction_at(code: Any, offset: int) -> dis.Instruction | None:
    return next((i for i in dis.get_instructions(code) if i.offset == offset), None)


class GraphAppendingTracer(TracerBase):
    """``GraphAppendingTracer(graph)``: proxies with it append to an existing graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """Stands for a value: operators, attributes, methods and functions on it become nodes of its tracer's graph.

    >>> import autograd_cy as ag
    >>> graph = ag.fx.Graph()
    >>> x = ag.fx.Proxy(graph.placeholder("x"))
    >>> y = (x + 1).relu()
    >>> [node.name for node in graph.nodes]
    ['x', 'add', 'relu']
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node, self.tracer = node, tracer if tracer is not None else GraphAppendingTracer(node.graph)

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Any:
        if name in ("node", "tracer") or (name.startswith("__array") and name.endswith("__")):
            raise AttributeError(name)
        return Attribute(self, name)

    __getitem__: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, item: Any) -> bool:
        raise TraceError("symbolically traced variables cannot be used with the operator `in`")

    def __deepcopy__(self, memo: dict[int, Any]) -> "Proxy":
        return Proxy(self.node, self.tracer)

    def keys(self) -> Any:
        """``keys()`` is asked for ``**proxy``; the tracer answers."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = _proxies_in(args, kwargs)
        return _record(found[0].tracer, function, args, kwargs or {})


def _proxies_in(args: Any, kwargs: Any) -> list[Proxy]:
    """The proxies among arguments, also in containers."""
    found: list[Proxy] = []
    map_aggregate((tuple(args), dict(kwargs or {})), lambda a: found.append(a) if isinstance(a, Proxy) else a)
    return found


def _record(tracer: TracerBase, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The Proxy of a call of a function of this package: one of a method for what is a Tensor's alone."""
    name = getattr(function, "__name__", "")
    if getattr(Tensor, name, None) is function and _home_of(function) is None:
        return tracer.create_proxy("call_method", name, args, kwargs)
    args, kwargs = _default_arguments(function, args, kwargs)
    return tracer.create_proxy("call_function", function, args, kwargs, name=name.removeprefix("functional_") or None)


def _home_of(function: Callable[..., Any]) -> str | None:
    from ._names import path_in_torch

    return path_in_torch(function)


class Attribute(Proxy):
    """An attribute of a Proxy: called, it is a method's call; else its node, a getattr, is made at its first use."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of getattr()."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _operator(name: str, reflected: bool) -> Callable[..., Any]:
    function = getattr(operator, name)

    def recorded(self: Proxy, *others: Any) -> Any:
        args = (*others, self) if reflected else (self, *others)
        return self.tracer.create_proxy("call_function", function, args, {})

    return recorded


_BINARY = "add sub mul floordiv truediv mod pow lshift rshift and_ or_ xor matmul".split()
for _name in [*_BINARY, "eq", "ne", "lt", "gt", "le", "ge", "getitem", "pos", "neg", "invert", "abs"]:
    setattr(Proxy, f"__{_name.rstrip('_')}__", _operator(_name, False))
for _name in _BINARY:
    setattr(Proxy, f"__r{_name.rstrip('_')}__", _operator(_name, True))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
