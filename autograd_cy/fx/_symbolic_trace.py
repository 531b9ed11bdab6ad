"""Tracer and symbolic_trace(): a function called with proxies, and the graph of what it called (facade)."""

import inspect
import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.overrides import calls_handed_to
from ..nn.modules.container import Sequential
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ._names import PACKAGE
from ._patching import ModulesTraced, Patcher, wrap
from .graph import Graph
from .graph_module import GraphModule
from .proxy import TracerBase, _proxies_in, _record

__all__ = ["PH", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]

_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_tracing = False


class _Placeholder:
    def __repr__(self) -> str:
        return "PH"


PH = _Placeholder()


def is_fx_tracing() -> bool:
    """``is_fx_tracing()``: whether a function is being traced."""
    return _tracing


class Tracer(TracerBase):
    """``Tracer().trace(module)``: the Graph of what calling a module or a function does.

    A subclass says by ``is_leaf_module`` which modules are one node; by default those of nn but Sequential. Functions of
    ``autowrap_modules``, and ``autowrap_functions``, are recorded whole where they are called with proxies.

    >>> import autograd_cy as ag
    >>> class Whole(ag.fx.Tracer):
    ...     def is_leaf_module(self, m, module_qualified_name):
    ...         return True
    >>> graph = Whole().trace(ag.nn.Sequential(ag.nn.Sequential(ag.nn.ReLU())))
    >>> [node.target for node in graph.nodes]
    ['input', '0', 'output']
    """

    def __init__(
        self, autowrap_modules: tuple[ModuleType, ...] = (math,), autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        self._autowrap_modules = tuple(autowrap_modules)
        self._autowrap_ids = {
            id(value) for module in (math, *autowrap_modules) for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        } | {id(function) for function in autowrap_functions}  # fmt: skip
        self.param_shapes_constant = param_shapes_constant
        self.root: Module = Module()
        self.tensor_attrs: dict[int, str] = {}
        self._kept: list[Any] = []

    # what subclasses decide

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """``is_leaf_module(m, name)``: whether a call of the module is one node."""
        home = type(m).__module__
        return home.startswith((f"{PACKAGE}.nn.", "torch.nn.", "torch.ao.nn.")) and not isinstance(m, Sequential)

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``call_module(m, forward, args, kwargs)``: a node for a leaf; else forward is called."""
        name = self.path_of_module(m)
        if not self.is_leaf_module(m, name):
            return forward(*args, **kwargs)
        return self.create_proxy("call_module", name, args, kwargs)

    def path_of_module(self, mod: Module) -> str:
        """``path_of_module(mod)``: where a module is in the root; NameError if it isn't there."""
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """``getattr(attr, value, cache)``: what a member of a module is to the function: a proxy for a parameter."""
        named: Any = self.root.named_parameters() if isinstance(attr_val, Parameter) else None
        if named is None and self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            named = self.root.named_buffers()
        for name, value in named or ():
            if value is attr_val:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                return parameter_proxy_cache[name]
        return attr_val

    def get_fresh_qualname(self, prefix: str) -> str:
        """``get_fresh_qualname(prefix)``: the first of prefix0, prefix1, ... that the root has no attribute of."""
        i = 0
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        return f"{prefix}{i}"

    def create_arg(self, a: Any) -> Any:
        """``create_arg(a)``: a tensor is an attribute of the root, which it is put into if it isn't there."""
        if isinstance(a, Parameter) or isinstance(a, Tensor):
            return self.create_node("get_attr", self._path_of_tensor(a), (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _path_of_tensor(self, tensor: Tensor) -> str:
        for named in (self.root.named_parameters(), self.root.named_buffers()):
            for name, value in named:
                if value is tensor:
                    return name
        path = self.tensor_attrs.get(id(tensor))
        if path is None:
            if isinstance(tensor, Parameter):
                raise NameError("parameter is not a member of this module")
            path = self.get_fresh_qualname("_tensor_constant")
            self.tensor_attrs[id(tensor)] = path
            self._kept.append(tensor)
            setattr(self.root, path, tensor)
        return path

    # tracing

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """``trace(root, concrete_args=None)``: the graph; ``concrete_args`` are values for some of the parameters."""
        global _tracing
        self.root, fn = (root, type(root).forward) if isinstance(root, Module) else (Module(), root)
        if isinstance(root, Module) and "forward" in vars(root):
            fn = lambda module, *args, **kwargs: root.forward(*args, **kwargs)  # noqa: E731
        self.graph = Graph(tracer_cls=type(self))
        self._note_tensors()
        cache: dict[str, Any] = {}
        fn, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
        before, _tracing = _tracing, True
        try:
            with self._replaced(fn, cache), calls_handed_to(self._handle):
                result = self.create_arg(fn(*args))
            kind = getattr(fn, "__annotations__", {}).get("return")
            self.create_node("output", "output", (result,), {}, type_expr=kind)
        finally:
            _tracing = before
        return self.graph

    def _replaced(self, fn: Callable[..., Any], cache: dict[str, Any]) -> Any:
        """What is in force while the function runs."""
        import contextlib

        stack = contextlib.ExitStack()
        patcher = stack.enter_context(Patcher())

        def called(module: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            patcher.wrap_in(getattr(type(module).forward, "__globals__", {}), self._autowrap_ids)
            return self.call_module(module, forward, args, kwargs)

        stack.enter_context(ModulesTraced(called, lambda module, name, value: self.getattr(name, value, cache)))
        patcher.wrap_names()
        for module in self._autowrap_modules:
            patcher.wrap_functions_of(module)
        patcher.wrap_in(getattr(fn, "__globals__", {}), self._autowrap_ids)
        return stack

    def _handle(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of an operation: recorded if it has a proxy."""
        if not _proxies_in(args, kwargs):
            return function(*args, **kwargs)
        return _record(self, function, args, kwargs)

    def _note_tensors(self) -> None:
        """Where the plain tensors are that modules have as attributes."""
        self.tensor_attrs, self._kept = {}, []
        for prefix, module in self.root.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, Tensor):
                    self.tensor_attrs[id(value)] = f"{prefix}.{name}" if prefix else name

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: dict[str, Any] | None = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """``create_args_for_root(fn, is_module)``: the function to be called, and a proxy for each of its parameters."""
        analyzed = inspect.unwrap(root_fn)
        code = analyzed.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        signature = inspect.signature(analyzed)
        args: list[Any] = []
        if is_module:
            if count == 0 and not code.co_flags & _VARIADIC:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            next(names)
            args.append(self.root)
        kinds = getattr(analyzed, "__annotations__", {})
        for _ in range(len(args), count):
            name = next(names)
            default = signature.parameters[name].default
            if code.co_kwonlyargcount and default is inspect.Parameter.empty and name in _keyword_only(signature):
                default = None
            args.append(self._argument(name, default, kinds.get(name), concrete_args or {}))
        if code.co_flags & inspect.CO_VARARGS:
            args.append(self._argument("*" + next(names), inspect.Parameter.empty, None, {}))
        if code.co_flags & inspect.CO_VARKEYWORDS:
            args.append(self._argument("**" + next(names), inspect.Parameter.empty, None, {}))
        if code.co_kwonlyargcount or code.co_flags & _VARIADIC:
            root_fn = _taking_all_by_position(analyzed, len(args))
        return root_fn, args

    def _argument(self, name: str, default: Any, kind: Any, concrete: dict[str, Any]) -> Any:
        defaults = () if default is inspect.Parameter.empty else (default,)
        if name in concrete and concrete[name] is not PH:
            self.create_proxy("placeholder", f"{name}_1", defaults, {})
            return concrete[name]
        return self.create_proxy("placeholder", name, defaults, {}, type_expr=kind)


def _keyword_only(signature: inspect.Signature) -> set[str]:
    return {name for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY}


def _taking_all_by_position(function: Any, count: int) -> Callable[..., Any]:
    """The function with all its parameters by position, those that collect others, too."""
    code = function.__code__
    flat = code.replace(co_flags=code.co_flags & ~_VARIADIC, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0)
    made = FunctionType(flat, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__annotations__ = dict(function.__annotations__)
    return made


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """``symbolic_trace(root)``: the module or function as a GraphModule, whose ``graph`` is what calling it does.

    Parameters, buffers and the modules that it calls are those of the root. TraceError where values decide what is called.

    >>> import autograd_cy as ag
    >>> traced = ag.fx.symbolic_trace(lambda x: ag.relu(x) + 1)
    >>> traced(ag.tensor([-1.0, 2.0]))
    tensor([1., 3.])
    >>> print(traced.code.strip())
    def forward(self, x):
        relu = torch.nn.functional.relu(x, inplace = False);  x = None
        add = relu + 1;  relu = None
        return add
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(root, "__name__", type(root).__name__)
    return GraphModule(tracer.root, graph, name)
