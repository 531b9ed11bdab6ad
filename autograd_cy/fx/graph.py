"""Graph: the steps of a function as Nodes in their order, to be read, changed and turned into code (facade)."""

from collections.abc import Callable, Iterator
from typing import Any

from ..utils._pytree import TreeSpec as _TreeSpec
from ..utils._pytree import tree_flatten as _tree_flatten
from ._code import PythonCode
from ._code import Writer as _Writer
from ._names import Namespace as _Namespace
from .node import Argument as Argument
from .node import Node, map_arg
from .node import Target as Target

__all__ = ["CodeGen", "Graph", "PythonCode"]


class _NodeList:
    """The nodes of a graph in their order: iterable, reversible, with a length."""

    def __init__(self, graph: "Graph", direction: str = "_next") -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root, direction = self.graph._root, self.direction
        node = getattr(root, direction)
        while node is not root:
            after = getattr(node, direction)
            if not node._erased:
                yield node
            if node.graph is self.graph and not node._erased:
                after = getattr(node, direction)
            node = after

    def __reversed__(self) -> "_NodeList":
        return _NodeList(self.graph, "_prev" if self.direction == "_next" else "_next")


class CodeGen:
    """How a graph becomes code; a subclass may change what goes in and comes out."""

    def process_inputs(self, *args: Any) -> Any:
        """``process_inputs(*args)``: the arguments of the placeholders for those of a call."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """``process_outputs(outputs)``: what a call returns for what the output node has."""
        return outputs

    def _head(self, root: str, parameters: list[str]) -> tuple[list[str], str]:
        """The parameters in the text of forward() and its first line, for those that the placeholders ask for."""
        return parameters, ""


class _TreeCodeGen(CodeGen):
    """Of a function whose arguments are trees: the placeholders are their leaves."""

    def __init__(self, names: list[str], spec: _TreeSpec) -> None:
        self.names, self.spec = names, spec

    def process_inputs(self, *args: Any) -> Any:
        leaves, spec = _tree_flatten(args)
        if spec != self.spec:
            raise ValueError(f"the arguments were {self.spec} where the function was recorded, but are {spec}")
        return leaves

    def _head(self, root: str, parameters: list[str]) -> tuple[list[str], str]:
        leaves = "".join(f"{name}, " for name in parameters)
        return self.names, f"{leaves}= {root}.graph.process_inputs({', '.join(self.names)})\n" if leaves else ""


class _InsertPoint:
    def __init__(self, graph: "Graph", insert: Callable[[Node], None]) -> None:
        self.graph, self.previous = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: Any) -> None:
        self.graph._insert = self.previous


class Graph:
    """``Graph()`` is empty; its methods append nodes, at the end or at an insertion point.

    >>> import autograd_cy as ag
    >>> graph = ag.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(ag.add, (x, 1)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %add : [num_users=1] = call_function[target=torch.add](args = (%x, 1), kwargs = {})
        return add
    >>> ag.fx.GraphModule(ag.nn.Module(), graph)(ag.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: dict[str, Any] | None = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._len = 0
        self._insert: Callable[[Node], None] = self._root.prepend
        self._graph_namespace = _Namespace()
        self._owners = 0
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()

    @property
    def owning_module(self) -> Any:
        """The GraphModule that the graph belongs to, None if there is none or more than one."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _NodeList:
        """The nodes in their order."""
        return _NodeList(self)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """``find_nodes(op=..., target=None)``: the nodes of that kind, and with that target."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # making nodes

    def create_node(
        self, op: str, target: Any, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
        name: str | None = None, type_expr: Any | None = None,
    ) -> Node:  # fmt: skip
        """``create_node(op, target, args=None, kwargs=None, name=None)`` adds a node at the insertion point; returns it."""
        args, kwargs = args if args is not None else (), kwargs if kwargs is not None else {}
        wanted = name if name is not None else self._target_to_str(target)
        node = Node(self, self._graph_namespace.create_name(wanted, None), op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(node.name, node)
        self._insert(node)
        self._len += 1
        return node

    @staticmethod
    def _target_to_str(target: Any) -> str:
        import re

        name = getattr(target, "__name__", None) if callable(target) else target
        name = str(name if name is not None else type(target).__name__).removeprefix("<").removesuffix(">")
        if name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()

    def placeholder(self, name: str, type_expr: Any | None = None, default_value: Any = ...) -> Node:
        """``placeholder(name)``: a parameter of the function."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """``get_attr("a.b")``: a parameter, a buffer or another attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
    ) -> Node:  # fmt: skip
        """``call_module("a.b", args)``: a call of a module that is in the graph's module."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self, method_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
    ) -> Node:  # fmt: skip
        """``call_method("add", (x, 1))``: a call of the method of that name of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None, name: str | None = None,
    ) -> Node:  # fmt: skip
        """``call_function(function, args)``: a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any | None = None) -> Node:
        """``output(result)``: what the function returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """``node_copy(node, arg_transform)``: the like of a node of another graph, whose inputs the function translates."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g: "Graph", val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """``graph_copy(graph, val_map)`` copies all nodes that are not in val_map; returns what stands for the output."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def output_node(self) -> Node:
        """``output_node()``: the node of what is returned, the last one."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError("the last node of the graph is no output")
        return node

    # changing

    def erase_node(self, to_erase: Node) -> None:
        """``erase_node(node)`` takes a node out; RuntimeError if others use it."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            import warnings

            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._update((), {})

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """``with graph.inserting_before(node):`` new nodes go before that one, or to the start of the graph."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """``with graph.inserting_after(node):`` new nodes go behind that one, in their order, or to the end of the graph."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n._next.prepend if n is self._root else n.append)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """``eliminate_dead_code()`` erases what nothing uses, but for calls with effects; returns whether it erased any."""
        self.lint()
        is_impure = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not is_impure(node):
                self.erase_node(node)
                changed = True
        return changed

    def lint(self) -> None:
        """``lint()`` checks that nodes come before their users, names differ and targets exist; RuntimeError if not."""
        seen_names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for arg in node.all_input_nodes:
                if arg.graph is not self:
                    raise RuntimeError(f"Argument '{arg}' of Node '{node}' does not belong to this Graph")
                if arg not in seen:
                    raise RuntimeError(
                        f"Argument '{arg}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                        f"the graph are topologically ordered\n{self}"
                    )
            if node.name in seen_names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            seen_names.add(node.name)
            if self.owning_module is not None and node.op in ("call_module", "get_attr"):
                self._check_target(node)

    def _check_target(self, node: Node) -> None:
        place = self.owning_module
        for atom in node.target.split("."):
            if not hasattr(place, atom):
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {atom} of {place}")
            place = getattr(place, atom)

    # as text

    def python_code(self, root_module: str, *, verbose: bool = False, **_: Any) -> PythonCode:
        """``python_code("self")``: the graph as the text of a function, with the globals that the text needs."""
        names = _Namespace()
        for node in self.nodes:
            names.create_name(node.name, node)
        return _Writer(self, root_module, names).write()

    def set_codegen(self, codegen: CodeGen) -> None:
        """``set_codegen(codegen)``: what an Interpreter makes of the arguments and the output."""
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        """``process_inputs(*args)``: the placeholders' values for a call's arguments."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """``process_outputs(out)``: what a call returns."""
        return self._codegen.process_outputs(out)

    def print_tabular(self) -> None:
        """``print_tabular()`` prints a table of the nodes."""
        rows = [[n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        table = [["opcode", "name", "target", "args", "kwargs"], *rows]
        widths = [max(len(row[i]) for row in table) for i in range(5)]
        table.insert(1, ["-" * width for width in widths])
        print("\n".join(["  ".join([cell.ljust(w) for cell, w in zip(row, widths, strict=True)]).rstrip() for row in table]))

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *[str(node.format_node()) for node in self.nodes]])

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> "Graph":
        made = Graph(tracer_cls=self._tracer_cls)
        memo = {} if memo is None else memo
        memo[id(self)] = made
        values: dict[Node, Node] = {}
        output = made.graph_copy(self, values, return_output_node=True)
        if output is not None:
            result, old = output
            made.output(result, old.type).meta = dict(old.meta)
        made._codegen = self._codegen
        return made

    def __getstate__(self) -> dict[str, Any]:
        """The nodes in a row, each input by its number: what is linked would be pickled recursively."""
        order = {node: i for i, node in enumerate(self.nodes)}
        rows = []
        for n in self.nodes:
            args, kwargs = (map_arg(x, lambda m: _Number(order[m])) for x in (n.args, n.kwargs))
            rows.append((n.op, n.name, n.target, args, kwargs, n.type))
        return {"rows": rows, "tracer_cls": self._tracer_cls, "codegen": self._codegen}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from .node import map_aggregate

        Graph.__init__(self, tracer_cls=state["tracer_cls"])
        self._codegen = state["codegen"]
        made: list[Node] = []
        for op, name, target, args, kwargs, kind in state["rows"]:
            args, kwargs = (map_aggregate(x, lambda v: made[v.place] if isinstance(v, _Number) else v) for x in (args, kwargs))
            made.append(self.create_node(op, target, args, kwargs, name, kind))


class _Number:
    """Stands for a node in a pickled graph."""

    def __init__(self, place: int) -> None:
        self.place = place
