"""GraphModule: a module whose forward() is the code of a graph (facade)."""

import copy
import itertools
import linecache
from typing import Any

from ..nn.modules.module import Module
from .graph import Graph

__all__ = ["GraphModule"]

_numbers = itertools.count()


class GraphModule(Module):
    """``GraphModule(root, graph, class_name="GraphModule")``: a module that does what the graph says.

    ``root`` is the module, or the dict, that has the parameters and modules which the graph names. Assigning to ``graph``, or
    ``recompile()`` after the graph was changed, makes the code anew; ``code`` is its text.

    >>> import autograd_cy as ag
    >>> traced = ag.fx.symbolic_trace(lambda x: ag.add(x, 1))
    >>> for node in traced.graph.find_nodes(op="call_function"):
    ...     node.target = ag.mul
    ...     node.args = (node.args[0], 3)
    >>> _ = traced.recompile()
    >>> traced(ag.ones(2))
    tensor([3., 3.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> "GraphModule":
        # Each instance has a class, and so a forward(), of its own.
        base = next(c for c in cls.__mro__ if "GraphModuleImpl" not in c.__qualname__)
        made = type("GraphModuleImpl", (base,), {"__module__": base.__module__, "__qualname__": "GraphModuleImpl"})
        return Module.__new__(made)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("call_module", "get_attr")]
        if isinstance(root, Module):
            self.training = root.training
            for target in targets:
                _copy_member(root, self, target)
        elif isinstance(root, dict):
            for target in targets:
                if target not in root:
                    raise RuntimeError(f"Node referenced target {target} but that target was not provided in ``root``!")
            for target in sorted(set(targets), key=lambda t: t.count(".")):
                _assign_member(root[target], self, target)
        else:
            raise RuntimeError("Unsupported type " + str(root) + " passed for root!")
        self.graph = graph
        self._tracer_cls = graph._tracer_cls
        self.meta: dict[str, Any] = {}

    @property
    def graph(self) -> Graph:
        """The Graph that it was made of."""
        return self.__dict__["_graph"]

    @graph.setter
    def graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        self.__dict__["_graph"] = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The text of forward()."""
        if "_code" not in self.__dict__:
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self.__dict__["_code"]

    def recompile(self) -> Any:
        """``recompile()`` makes forward() anew from the graph; returns the PythonCode."""
        made = self.graph.python_code("self")
        own = dict(made.globals)
        name = f"<eval_with_key>.{next(_numbers)}"
        linecache.cache[name] = (len(made.src), None, made.src.splitlines(keepends=True), name)
        exec(compile(made.src, name, "exec"), own)  # the text of our own graph
        type(self).forward = own["forward"]
        self.__dict__["_code"] = made.src
        return made

    def add_submodule(self, target: str, m: Module) -> bool:
        """``add_submodule("a.b", m)`` puts a module there; False if a part of the path is no module."""
        *path, last = target.split(".")
        place: Any = self
        for name in path:
            if not hasattr(place, name):
                setattr(place, name, Module())
            place = getattr(place, name)
            if not isinstance(place, Module):
                return False
        place.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """``delete_submodule("a.b")`` removes a module; False if there is none."""
        path, _, last = target.rpartition(".")
        try:
            place = self.get_submodule(path)
            found = getattr(place, last)
        except AttributeError:
            return False
        if not isinstance(found, Module):
            return False
        delattr(place, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """``delete_all_unused_submodules()`` removes the modules that no node calls, or takes an attribute of."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
                if node.op == "call_module":
                    used.update(f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output: bool = True, **_: Any) -> str:
        """``print_readable()`` prints the code within its class, and that of GraphModules inside; returns the text."""
        text = f"class {self._get_name()}(torch.nn.Module):\n" + _indented(self.code.strip())
        inner = [m.print_readable(False) for m in self.children() if isinstance(m, GraphModule)]
        text = "\n\n".join([text, *[_indented(part) for part in inner]])
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """``to_folder(folder)``: a package with the code is not written here; save the module, or its ``code``."""
        raise NotImplementedError("to_folder() is not supported here: torch.save() the module, or write its `code`")

    def __str__(self) -> str:
        shown = super().__str__()
        return "\n".join([shown, self.code, "# To see more debug info, please use `graph_module.print_readable()`"])

    def __reduce__(self) -> Any:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_graph", "_code")}
        base = next(c for c in type(self).__mro__ if "GraphModuleImpl" not in c.__qualname__)
        return _restored, (base, state, self.graph, type(self).__name__)

    def __deepcopy__(self, memo: dict[int, Any]) -> "GraphModule":
        state = {name: value for name, value in self.__dict__.items() if name not in ("_graph", "_code")}
        base: Any = next(c for c in type(self).__mro__ if "GraphModuleImpl" not in c.__qualname__)
        made = base.__new__(base)
        memo[id(self)] = made
        return _fill(made, copy.deepcopy(state, memo), copy.deepcopy(self.graph, memo), type(self).__name__)

    def __copy__(self) -> "GraphModule":
        made = GraphModule(self, self.graph, type(self).__name__)
        made.meta = dict(self.meta)
        return made


def _fill(made: GraphModule, state: dict[str, Any], graph: Graph, name: str) -> GraphModule:
    made.__dict__.update(state)
    type(made).__name__ = name
    made.graph = graph
    return made


def _restored(base: type[GraphModule], state: dict[str, Any], graph: Graph, name: str) -> GraphModule:
    """A GraphModule as it was pickled."""
    return _fill(base.__new__(base), state, graph, name)


def _indented(text: str) -> str:
    return "\n".join(["    " + line if line.strip() else "" for line in text.split("\n")])


def _copy_member(source: Module, target: Module, path: str) -> None:
    """Give a module what another one has there, with plain modules along the path."""
    *prefix, last = path.split(".")
    for name in prefix:
        found, existing = getattr(source, name), getattr(target, name, None)
        if found is existing:
            return
        if existing is None:
            existing = Module()
            setattr(target, name, existing)
        source, target = found, existing
    value = getattr(source, last)
    if last in source._buffers and not isinstance(value, Module):
        target.register_buffer(last, value, persistent=last not in source._non_persistent_buffers_set)
    else:
        setattr(target, last, value)


def _assign_member(value: Any, target: Module, path: str) -> None:
    *prefix, last = path.split(".")
    for name in prefix:
        if not hasattr(target, name):
            setattr(target, name, Module())
        target = getattr(target, name)
    setattr(target, last, value)
