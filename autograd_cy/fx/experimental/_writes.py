"""What a call writes, and the call that returns the value instead (facade).

All of it follows from names, signatures and the table of operations: `name_` and `out=` write; the twin of `name_` is `name`
if it takes the same arguments, else `name_` itself on a copy.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ..._core.arrays.dtypes import dtype as Dtype
from ..._core.graph.tensor import Tensor
from ..._core.ops.operations import OPS
from ..._creation.filled import ones
from ...utils._pytree import tree_leaves, tree_map
from ._aliases import aten, name_of

__all__ = ["dtype_of_value", "targets_of", "tensors_in", "twin_of", "without_write"]

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def tensors_in(tree: Any) -> Iterator[Tensor]:
    return (x for x in tree_leaves(tree) if isinstance(x, Tensor))


def targets_of(call: Call) -> list[Tensor]:
    """The tensors that a call says it writes."""
    function, args, kwargs = call
    name = name_of(function)
    if kwargs.get("out") is not None:
        return list(tensors_in(kwargs["out"]))
    in_place = name == "set_item" or (name.endswith("_") and not name.endswith("__"))
    if not in_place and not kwargs.get("inplace") and not _ends_in_place(function, args):
        return []
    first = args[0] if args else kwargs.get("input", kwargs.get("self"))
    return [first] if isinstance(first, Tensor) else []


def _ends_in_place(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether the last argument is one more than the function has parameters: `inplace`, and True."""
    if not args or args[-1] is not True or name_of(function).endswith("_"):
        return False
    parameters = _parameters(function)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return False
    return len(args) > sum(p.kind is not p.KEYWORD_ONLY for p in parameters)


@functools.cache
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return (inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),)


def without_write(call: Call) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The call that returns what this one writes: of the same function, or of a packet of `aten`."""
    function, args, kwargs = call
    if "out" in kwargs or kwargs.get("inplace"):
        others = {k: v for k, v in kwargs.items() if k not in ("out", "inplace")}
        if not list(tensors_in((args, others))) and isinstance(kwargs.get("out"), Tensor):
            others.setdefault("dtype", kwargs["out"].dtype)  # numbers are drawn in the type of out=
        return function, args, others
    if _ends_in_place(function, args):
        return function, args[:-1], kwargs
    return twin_of(function), args, kwargs


def twin_of(write: Callable[..., Any]) -> Any:
    """The packet of `aten` that returns what an operation in place writes, and takes the same arguments."""
    name = name_of(write).removesuffix("_")
    twin = getattr(aten, name, None)
    if twin is None or not _takes_the_same(twin.op, write):
        return getattr(aten, f"{name}_functional")
    return twin


def _takes_the_same(twin: Callable[..., Any], write: Callable[..., Any]) -> bool:
    """Whether the parameters after the first one are those of the other function, which may have more."""
    expected, found = _parameters(write)[1:], _parameters(twin)[1:]
    return [(p.name, p.default) for p in expected] == [(p.name, p.default) for p in found[: len(expected)]]


@functools.cache
def _elementwise() -> frozenset[int]:
    return frozenset(id(op.function) for op in OPS.values() if op.kind == "elementwise")


def dtype_of_value(call: tuple[Any, tuple[Any, ...], dict[str, Any]]) -> Dtype | None:
    """The dtype of what a call of `without_write` returns, where that is known without the call."""
    function = getattr(call[0], "op", call[0])
    first = next(tensors_in(call[1:]), None)
    if first is not None and (name_of(function).endswith("_") or name_of(function) == "set_item"):  # on a copy
        return first.dtype
    if id(function) not in _elementwise():
        return None
    args, kwargs = tree_map(_one_like, call[1:])
    return function(*args, **kwargs).dtype


def _one_like(x: Any) -> Any:
    """A tensor of one element that counts as this one where types are promoted."""
    return ones((1,) * min(x.ndim, 1), dtype=x.dtype) if isinstance(x, Tensor) else x
