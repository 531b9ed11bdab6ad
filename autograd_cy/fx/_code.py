"""A graph as the text of a Python function (facade)."""

import builtins
import functools
import math
from dataclasses import dataclass, field
from typing import Any

from ._names import PACKAGE, RESERVED, Namespace, path_in_torch, qualified_name
from .node import Node, _type_name, map_arg

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "div": "/", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@", "eq": "==", "ne": "!=", "lt": "<",
    "gt": ">", "le": "<=", "ge": ">=",
}  # fmt: skip
_FORMATS = {name: f"{{}} {sign} {{}}" for name, sign in _BINARY.items()}
_FORMATS |= {"getitem": "{}[{}]", "pos": "+{}", "neg": "-{}", "invert": "~{}"}
_COMPARED = {"eq", "ne", "lt", "gt", "le", "ge"}
_IN_PLACE = {f"i{name.rstrip('_')}": f"{{}} {sign}= {{}}" for name, sign in _BINARY.items() if name not in _COMPARED}


@dataclass
class PythonCode:
    """The text of a function, ``src``, and the ``globals`` that it needs."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0
    lines: list[str] = field(default_factory=list)


def common_globals() -> dict[str, Any]:
    """What code finds under the names that are not its own."""
    import sys

    package = sys.modules[PACKAGE]
    from ..utils import _pytree

    known = (math.inf, math.nan, type(None), package, package.device, _pytree, _pytree)
    return dict(zip(RESERVED, known, strict=True))


class Writer:
    """Writes the code of one graph: a body line for each node, and the globals that the lines use."""

    def __init__(self, graph: Any, root: str, namespace: Namespace) -> None:
        self.graph, self.root, self.namespace = graph, root, namespace
        self.globals: dict[str, Any] = {}
        self.body: list[str] = []
        self.parameters: list[str] = []
        self.returned = ""
        self.last_uses: dict[Node, list[Node]] = {}

    def write(self) -> PythonCode:
        """The whole function."""
        self._find_last_uses()
        for node in self.graph.nodes:
            self._write_node(node)
            self._drop_unused(node)
        if not self.body:
            self.body.append("pass\n")
        kinds = {name: value for name, value in common_globals().items() if name == "torch"}
        parameters, first = self.graph._codegen._head(self.root, self._ordered())
        head = f"def forward({', '.join([self.root, *parameters])}){self.returned}:"
        text = first + "".join(self.body)
        code = "\n".join("    " + line for line in text.split("\n"))
        return PythonCode(f"\n\n\n{head}\n{code}", {**kinds, **self.globals})

    def _ordered(self) -> list[str]:
        """The parameters with the collecting ones last."""
        named = [p for p in self.parameters if not p.startswith("*")]
        return named + [p for p in self.parameters if p.startswith("*")]

    def _find_last_uses(self) -> None:
        seen: set[Node] = set()

        def note(n: Node, user: Node) -> Node:
            if n not in seen:
                seen.add(n)
                self.last_uses.setdefault(user, []).append(n)
            return n

        for node in reversed(list(self.graph.nodes)):
            for given in (node.args, node.kwargs):
                map_arg(given, functools.partial(note, user=node))

    def _drop_unused(self, user: Node) -> None:
        if user.op == "placeholder":
            return
        if user.op == "output":
            self.body.append("\n")
            return
        gone = list(self.last_uses.get(user, []))
        if not user.users:
            gone.append(user)
        self.body.append(f";  {' = '.join([n.name for n in gone])} = None\n" if gone else "\n")

    def _write_node(self, node: Node) -> None:
        kind = f" : {self._type(node.type)}" if node.type else ""
        if node.op == "placeholder":
            default = f" = {self.repr(node.args[0])}" if node.args else ""
            self.parameters.append(f"{node.target}{kind}{default}")
            raw = node.target.replace("*", "")
            if raw != node.name:
                self.body.append(f"{node.name} = {raw}\n")
        elif node.op == "output":
            if node.type is not None:
                self.returned = f" -> {self._type(node.type)}"
            self.body.append(f"return {self.repr(node.args[0])}")
        else:
            self.body.append(self._call(node, kind))

    def _call(self, node: Node, kind: str) -> str:
        left = f"{node.name}{kind} = "
        if node.op == "get_attr":
            return left + attribute_path(self.root, node.target)
        if node.op == "call_method":
            first = self.repr(node.args[0])
            return f"{left}{first}.{node.target}({self._arguments(node.args[1:], node.kwargs)})"
        if node.op == "call_module":
            return f"{left}{attribute_path(self.root, node.target)}({self._arguments(node.args, node.kwargs)})"
        target = node.target
        if getattr(target, "__module__", None) == "_operator":
            form = _FORMATS.get(target.__name__)
            if form is not None and not node.kwargs:
                return left + form.format(*[self.repr(a) for a in node.args])
            form = _IN_PLACE.get(target.__name__)
            if form is not None:
                first = self.repr(node.args[0])
                return f"{form.format(first, self.repr(node.args[1]))};  {left}{first}"
        if target is getattr and isinstance(node.args[1], str) and node.args[1].isidentifier() and len(node.args) == 2:
            return f"{left}{self.repr(node.args[0])}.{node.args[1]}"
        return f"{left}{self.global_name(qualified_name(target), target)}({self._arguments(node.args, node.kwargs)})"

    def global_name(self, hint: str, obj: Any) -> str:
        """How code calls an object: its path below torch, or a global that holds it."""
        path = path_in_torch(obj)
        if path is not None:
            return path
        if getattr(builtins, hint, None) is obj:
            return hint
        name = self.namespace.create_name(hint.replace(".", "_"), obj)
        self.globals[name] = obj
        return name

    def _type(self, kind: Any) -> str:
        name = _type_name(kind)
        if not (name.startswith("torch.") or getattr(builtins, name, None) is kind):
            return self.global_name(name, kind)
        return name

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        named = [f"{key} = {self.repr(value)}" for key, value in kwargs.items()]
        return ", ".join([*[self.repr(a) for a in args], *named])

    def repr(self, value: Any) -> str:
        """A value as the code writes it."""
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            kind = self.global_name(type(value).__name__, type(value))
            return f"{kind}({', '.join(self.repr(x) for x in value)})"
        if isinstance(value, tuple):
            inner = ", ".join(self.repr(x) for x in value)
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if isinstance(value, list):
            return f"[{', '.join(self.repr(x) for x in value)}]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self.repr(x)}" for key, x in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.repr(value.start)}, {self.repr(value.stop)}, {self.repr(value.step)})"
        if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
            return self.global_name(qualified_name(value), value)
        return self._literal(value)

    def _literal(self, value: Any) -> str:
        text = repr(value)
        if isinstance(value, (int, float, complex, str, bytes, type(None), type(...))):
            for name in ("inf", "nan"):
                if isinstance(value, (float, complex)) and name in text:
                    self.globals[name] = common_globals()[name]
            return text
        if type(value).__name__ == "dtype" and text.startswith("torch."):
            return text
        if text.startswith("device("):
            self.globals["device"] = common_globals()["device"]
            return text
        name = self.namespace.create_name(f"_{type(value).__name__}", None)
        self.globals[name] = value
        return name


def attribute_path(root: str, target: str) -> str:
    """The expression for self.a.b, with getattr() for names that are no identifiers."""
    text = root
    for name in target.split("."):
        text = f"{text}.{name}" if name.isidentifier() else f'getattr({text}, "{name}")'
    return text
