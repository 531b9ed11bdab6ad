"""``torch.ops``: the operations by namespace, name and overload, each the function behind the name (facade).

``ops.aten`` has those of this package. Their overloads follow by a few rules, for one function does what PyTorch's overloads
do. Other namespaces have what `library` was given.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ._compat import PACKAGE as _PACKAGE
from ._core.graph.tensor import Tensor
from ._core.ops.operations import OPS
from ._core.ops.overrides import answer_of_handler as _answer_of_handler
from ._core.ops.overrides import handle_torch_function as _handle_torch_function
from ._core.recording.events import begin_region as _begin_region
from ._core.recording.events import end_region as _end_region
from .utils._checkpoint_policy import enter_overloads

_SCALED = ("add", "sub", "mul", "div", "multiply", "subtract", "true_divide", "divide")  # of numbers, too, the one for tensors
_COMPARED = "eq ne lt le gt ge remainder fmod bitwise_and bitwise_or bitwise_xor rsub masked_fill fill lerp".split()
_ALONG = {"sum": "dim_IntList", "mean": "dim", "prod": "dim_int", "any": "dim", "all": "dim", "std": "dim", "var": "dim",
          "max": "dim", "min": "dim", "squeeze": "dim", "nansum": "", "median": "dim", "nanmedian": "dim"}  # fmt: skip
_INT = ("softmax", "log_softmax", "transpose", "select", "unbind")
# Operations of PyTorch's own use, by what they are made of.
_COMPOSED: dict[str, Callable[..., Any]] = {
    "_softmax": lambda self, dim, half_to_float: self.softmax(dim),
    "_log_softmax": lambda self, dim, half_to_float: self.log_softmax(dim),
    "_to_copy": lambda self, *, dtype=None, **_: self.to(dtype) if dtype not in (None, self.dtype) else self.clone(),
    "_unsafe_view": lambda self, size: self.reshape(size),
    "alias": lambda self: self.view_as(self),
    "lift_fresh": lambda self: self,
    "sym_size": lambda self, dim=None: self.size() if dim is None else self.size(dim),
    "slice": lambda self, dim=0, start=None, end=None, step=1: self[
        (slice(None),) * (dim % self.ndim) + (slice(start, end, step),)
    ],
}  # fmt: skip


def _record_function_enter(name: str, args: str | None = None) -> Any:
    """A region of that name begins in profiles; returns the handle that ends it."""
    return _begin_region(name, args)


def _record_function_exit(handle: Any) -> Any:
    """The region ends."""
    if hasattr(type(handle), "__torch_function__"):  # a Proxy of torch.fx
        return _handle_torch_function(ops.profiler._record_function_exit, (handle,), handle)
    return _end_region(handle)


# What `library` was given, by "namespace::name", beside the operations of record_function.
_custom: dict[str, Any] = {
    "profiler::_record_function_enter": _record_function_enter,
    "profiler::_record_function_enter_new": _record_function_enter,
    "profiler::_record_function_exit": _record_function_exit,
}


class OpOverload:
    """One overload of an operation: ``torch.ops.aten.mul.Tensor``; calling it calls the operation.

    >>> import autograd_cy as ag
    >>> op = ag.ops.aten.mul.Tensor
    >>> op(ag.tensor(2.0), 3.0), op.name(), op
    (tensor(6.), 'aten::mul.Tensor', <OpOverload(op='aten.mul', overload='Tensor')>)
    """

    def __init__(self, packet: "OpOverloadPacket", overload: str) -> None:
        self._overloadpacket, self._overloadname = packet, overload
        self.namespace = packet._namespace
        self._opname = packet.__name__
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__ = f"torch._ops.{packet._namespace}"
        self.__qualname__ = self.__name__

    @property
    def overloadpacket(self) -> "OpOverloadPacket":
        """The operation with all its overloads."""
        return self._overloadpacket

    @property
    def _op(self) -> Callable[..., Any]:
        return self._overloadpacket.op

    op = _op

    @property
    def _has_side_effects(self) -> bool:
        return self._overloadpacket._has_side_effects

    @property
    def _schema(self) -> str:
        return f"{self.name().removesuffix('.default')}{schema_of(self._op)}"

    @property
    def tags(self) -> list[Any]:
        """What PyTorch says of operations by tags: nothing here."""
        return []

    def name(self) -> str:
        """``name()`` is "namespace::name.overload"."""
        return f"{self._overloadpacket._qualified_op_name}.{self._overloadname}".removesuffix(".default")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._overloadpacket(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __deepcopy__(self, memo: Any = None) -> "OpOverload":
        return self

    def __reduce__(self) -> Any:
        return _overload_by_name, (self.namespace, self._opname, self._overloadname)


class OpOverloadPacket:
    """An operation with its overloads: ``torch.ops.aten.mul``; each is an attribute, ``overloads()`` lists their names.

    >>> import autograd_cy as ag
    >>> ag.ops.aten.mul.overloads(), ag.ops.aten.mul(ag.tensor(2.0), 3.0)
    (['Tensor', 'Scalar', 'out', 'Scalar_out'], tensor(6.))
    """

    def __init__(self, namespace: str, name: str, op: Callable[..., Any], overloads: list[str]) -> None:
        self._namespace, self.__name__, self.op = namespace, name, op
        self._qualified_op_name = f"{namespace}::{name}"
        self._overload_names = overloads
        self._made: dict[str, OpOverload] = {}
        self.__module__, self.__qualname__ = f"torch._ops.{namespace}", name

    @property
    def _has_side_effects(self) -> bool:
        """Whether a call does more than compute its result."""
        writes = self.__name__.endswith("_") and not self.__name__.endswith("__")
        return writes or self._namespace == "profiler" or bool(getattr(self.op, "_mutates", ()))

    def overloads(self) -> list[str]:
        """``overloads()``: the names of the overloads."""
        return list(self._overload_names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._overload_names:
            if name.startswith("__"):
                raise AttributeError(name)
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        return self._made.setdefault(name, OpOverload(self, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "self" in kwargs:  # what PyTorch's schemas call the first argument
            args = (kwargs.pop("self"), *args)
        if getattr(self.op, "__globals__", None) is globals() and self._namespace == "aten":  # composed here: seen as one call
            answer = _answer_of_handler(getattr(self, self._overload_names[0]), args, kwargs)
            if answer is not NotImplemented:
                return answer
        return self.op(*args, **kwargs)

    def __iter__(self) -> Any:
        return iter(self._overload_names)

    def __dir__(self) -> list[str]:
        return [*self._overload_names, "op", "overloads"]

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __deepcopy__(self, memo: Any = None) -> "OpOverloadPacket":
        return self

    def __reduce__(self) -> Any:
        return _packet_by_name, (self._namespace, self.__name__)


def _packet_by_name(namespace: str, name: str) -> OpOverloadPacket:
    return getattr(getattr(ops, namespace), name)


def _overload_by_name(namespace: str, name: str, overload: str) -> OpOverload:
    return getattr(_packet_by_name(namespace, name), overload)


class _OpNamespace(ModuleType):
    """``torch.ops.aten`` and its like: operations as attributes, looked up when they are asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = _custom.get(f"{self.name}::{name}")
        if known is not None:
            packet = OpOverloadPacket(self.name, name, known, ["default"])
        else:
            op = aten_function(name) if self.name == "aten" else None
            if op is None:
                raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
            packet = OpOverloadPacket(self.name, name, op, overloads_of(name, op))
        vars(self)[name] = packet
        return packet


class _Ops(ModuleType):
    """``torch.ops``: a namespace for each name; ``load_library`` has nothing to load."""

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self.loaded_libraries: set[str] = set()
        self.__all__ = ["load_library"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        vars(self)[name] = namespace
        return namespace

    def load_library(self, path: str) -> None:
        """``load_library(path)``: libraries of compiled operations are PyTorch's; OSError."""
        raise OSError(f"{path}: this package can't load libraries of operations compiled for PyTorch")


ops = _Ops()


def aten_function(name: str) -> Callable[..., Any] | None:
    """What an operation of `aten` is here: one of the table, a function that makes tensors, a method; else None."""
    if name in _COMPOSED:
        return _COMPOSED[name]
    prefix, _, rest = name.partition("_")
    for key in (name, f"{prefix}.{rest}", f"nn.functional.{name}"):
        if key in OPS:
            return OPS[key].function
    package = sys.modules[_PACKAGE]
    for home in (package, package.nn.functional, Tensor):
        found = getattr(home, name, None) if not name.startswith("_") else None
        if callable(found) and not isinstance(found, type):
            return found
    return _function_of_variant(name)


def _function_of_variant(name: str) -> Callable[..., Any] | None:
    """Of `view_copy` and its like: a copy of a view; of `normal_functional` and `copy`: what writes in place, on a copy."""
    base = name.removesuffix("_functional")
    if base == "set_item":
        return _on_a_copy(Tensor.__setitem__)
    if f"{base}_" in Tensor.__dict__ and not name.endswith("_"):
        return _on_a_copy(getattr(Tensor, f"{base}_"))
    viewed = aten_function(name.removesuffix("_copy")) if name.endswith("_copy") else None
    return None if viewed is None else _copied(viewed)


def _on_a_copy(write: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(write, assigned=("__name__", "__doc__"))  # and the signature, not the module: calls of these are one call
    def written(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        result = self.clone()
        write(result, *args, **kwargs)
        return result

    return written


def _copied(view: Callable[..., Any]) -> Callable[..., Any]:
    def copied(*args: Any, **kwargs: Any) -> Any:
        result = view(*args, **kwargs)
        return result.clone() if isinstance(result, Tensor) else [x.clone() for x in result]

    return copied


@functools.cache
def _aten_names() -> dict[int, str]:
    """The name in `aten` of each function of the table, by its id."""
    return {
        id(op.function): op.name if op.namespace in ("", "nn.functional", "Tensor") else f"{op.namespace}_{op.name}"
        for op in OPS.values()
    }


def aten_name(function: Callable[..., Any]) -> str:
    """What a function of this package is called in `aten`."""
    name = _aten_names().get(id(function)) or str(getattr(function, "__name__", type(function).__name__))
    return {"__getitem__": "index", "__setitem__": "index_put_"}.get(name, name.removeprefix("functional_"))


def overloads_of(name: str, function: Callable[..., Any]) -> list[str]:
    """The names of the overloads that an operation has."""
    base = name.removesuffix("_")
    if base in _SCALED or base in _COMPARED:
        found = ["Tensor", "Scalar"] if base not in ("lerp", "masked_fill", "fill") else ["Scalar", "Tensor"]
    elif base == "pow":
        found = ["Tensor_Tensor", "Tensor_Scalar", "Scalar"] if name == "pow" else ["Scalar", "Tensor"]
    elif base in _ALONG:
        found = ["default", *filter(None, [_ALONG[base]])]
        found += {"max": ["other"], "min": ["other"], "squeeze": ["dims"], "any": ["dims"], "all": ["dims"],
                  "std": ["correction"], "var": ["correction"]}.get(base, [])  # fmt: skip
    elif base in _INT:
        found = ["int"]
    else:
        found = {"where": ["self", "ScalarOther", "ScalarSelf", "Scalar"], "split": ["Tensor", "sizes"],
                 "scatter": ["src", "value", "reduce", "value_reduce"], "arange": ["default", "start", "start_step"],
                 "slice": ["Tensor"], "clamp": ["default", "Tensor"], "index": ["Tensor"],
                 "randint": ["default", "low"], "normal": ["Tensor_float", "float_float"]}.get(base, ["default"])  # fmt: skip
    if name.endswith("_"):
        return found
    return found + ["out" if o in ("default", "Tensor", "int") or len(found) == 1 else f"{o}_out" for o in found]


def overload_name(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The overload that a call is one of."""
    base = name.removesuffix("_")
    second = args[1] if len(args) > 1 else kwargs.get("other", kwargs.get("value", kwargs.get("dim")))
    number = not isinstance(second, Tensor)
    if base in _SCALED:
        return "Tensor"
    if base in _COMPARED:
        last = args[-1] if base in ("lerp", "masked_fill") and len(args) > 2 else second
        return "Tensor" if isinstance(last, Tensor) else "Scalar"
    if base == "pow":
        if name == "pow_":
            return "Scalar" if number else "Tensor"
        return "Scalar" if not isinstance(args[0], Tensor) else "Tensor_Scalar" if number else "Tensor_Tensor"
    if base in _ALONG:
        if second is None:
            return "default"
        return "other" if not number else _ALONG[base] or "default"
    names = overloads_of(name, len)
    if base == "where" and len(args) == 3:
        return {(0, 0): "Scalar", (0, 1): "ScalarSelf", (1, 0): "ScalarOther", (1, 1): "self"}[
            isinstance(args[1], Tensor), isinstance(args[2], Tensor)
        ]
    if base == "split" and isinstance(second, (list, tuple)):
        return "sizes"
    if base == "arange":
        return ("default", "start", "start_step")[min(len(args), 3) - 1] if args else "default"
    return names[0]


def overload_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The overload of `torch.ops.aten` that a call of a function of this package is one of."""
    if isinstance(function, OpOverload):
        return function
    name = aten_name(function)
    overload = overload_name(name, args, kwargs)
    known = _custom.get(f"aten::{name}") is None and aten_function(name) is function
    packet = getattr(ops.aten, name) if known else OpOverloadPacket("aten", name, function, overloads_of(name, function))
    return getattr(packet, overload)


enter_overloads(OpOverload, OpOverloadPacket, overload_of)

_SCHEMA_TYPES = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "str",
}


def schema_of(function: Callable[..., Any]) -> str:
    """The parameters of a function as PyTorch writes them: (Tensor input, int dim=0) -> Tensor."""
    parts = []
    starred = False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            starred = True
            parts.append("*")
        kind = _SCHEMA_TYPES.get(p.annotation) or {bool: "bool", int: "int", float: "float"}.get(type(p.default), "Tensor")
        parts.append(f"{kind} {p.name}" if p.default is p.empty else f"{kind} {p.name}={p.default}")
    return f"({', '.join(parts)}) -> Tensor"
