"""Interpreter and Transformer: a graph run node by node, with values or into another graph (facade)."""

from collections.abc import Callable, Iterator
from typing import Any

from ..nn.modules.module import Module
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument as Argument
from .node import Node, map_aggregate, map_arg
from .node import Target as Target
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """``Interpreter(module).run(*args)`` calls what the nodes of a GraphModule call; a subclass overrides some kinds of them.

    >>> import autograd_cy as ag
    >>> class Doubled(ag.fx.Interpreter):
    ...     def call_function(self, target, args, kwargs):
    ...         return 2 * super().call_function(target, args, kwargs)
    >>> Doubled(ag.fx.symbolic_trace(lambda x: ag.exp(x))).run(ag.zeros(2))
    tensor([2., 2.])
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.graph: Graph = graph if graph is not None else module.graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            self._find_last_uses()

    def _find_last_uses(self) -> None:
        seen: set[Node] = set()
        for user in reversed(self.graph.nodes):
            for node in user.all_input_nodes:
                if node not in seen:
                    seen.add(node)
                    self.user_to_last_uses.setdefault(user, []).append(node)

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """``run(*args)``: what the graph returns for these arguments. ``initial_env`` has values of nodes that are known."""
        self.env = dict(initial_env) if initial_env is not None else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    error.add_note(f"While executing {node.format_node()}")
                raise
            for dead in self.user_to_last_uses.get(node, ()):
                del self.env[dead]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """``boxed_run(args)`` is run(*args), which empties the list first."""
        args = tuple(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node) -> Any:
        """``run_node(n)``: the value of a node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``placeholder(target, args, kwargs)``: the next argument of the run, or the default."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``get_attr(target, args, kwargs)``: an attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``call_function(target, args, kwargs)``: the result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``call_method(target, args, kwargs)``: the result of a method of the first argument."""
        first, *others = args
        return getattr(first, target)(*others, **kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``call_module(target, args, kwargs)``: the result of a module of the module."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``output(target, args, kwargs)``: what the run returns."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """``fetch_attr("a.b")``: an attribute of the module; RuntimeError if there is none."""
        place: Any = self.module
        for i, name in enumerate(target.split(".")):
            if not hasattr(place, name):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(target.split('.')[: i + 1])}")
            place = getattr(place, name)
        return place

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """``fetch_args_kwargs_from_env(n)``: the arguments of a node, with the values of its inputs."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """``map_nodes_to_values(args, n)``: arguments with the value of each node among them."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues")
            return self.env[node]

        return _plain(map_arg(args, value))


def _plain(value: Any) -> Any:
    """Lists and dicts that can be changed, as functions may do with their arguments."""
    if isinstance(value, list):
        return [_plain(x) for x in value]
    if isinstance(value, dict):
        return {key: _plain(x) for key, x in value.items()}
    if type(value) is tuple:
        return tuple([_plain(x) for x in value])
    return value


class Transformer(Interpreter):
    """``Transformer(module).transform()``: the module with another graph; a subclass overrides what some nodes become.

    >>> import autograd_cy as ag
    >>> class Sines(ag.fx.Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return super().call_function(ag.sin if target is ag.exp else target, args, kwargs)
    >>> Sines(ag.fx.symbolic_trace(lambda x: ag.exp(x))).transform()(ag.zeros(2))
    tensor([0., 0.])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)

        class TransformerTracer(Tracer):
            def __init__(tracer, graph: Graph) -> None:
                super().__init__()
                tracer.graph, tracer.root = graph, module

            def is_leaf_module(tracer, _m: Module, _name: str) -> bool:
                return True

        self.tracer = TransformerTracer(self.new_graph)

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """``placeholder(target, args, kwargs)``: a parameter of the new graph."""
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """``get_attr(target, args, kwargs)``: the attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``call_module(target, args, kwargs)``: the call in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``call_function(target, args, kwargs)``: the call in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """``transform()``: the module with the new graph."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            output = map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a)
            made = self.new_graph.output(output)
            made.meta = dict(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph)
