"""What the counterparts of NumPy's functions share: how they are registered, and how their arguments are read (facade).

NOTE [NumPy's functions]
What NumPy's function returns of tensors is, in this order:
  1. the result of its counterpart here, in operations, so that gradients and tangents pass. A counterpart has the parameters
     of NumPy's function, as many of them as it can do; it raises Declined for values that it can't do;
  2. NumPy's own result, where no gradient and no tangent is asked for, or where the result has no derivative (`argsort`);
  3. a TypeError: a graph is never cut in silence.
What is written to in place (`np.put`, `out=`) is written by an operation, which counts the write.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._core.arrays.dtypes import promote_types
from .._core.graph.tensor import Tensor, sharing
from .._creation.data import MAX_DIMENSIONS
from .._functional.names import cat, stack
from ..autograd.forward_ad import unpack_dual
from ..autograd.grad_mode import is_grad_enabled

COUNTERPARTS: dict[str, Callable[..., Any]] = {}  # by NumPy's path: "sum", "linalg.norm"


class Declined(TypeError):
    """A counterpart can't do what it was asked for."""

    def __init__(self) -> None:
        super().__init__("tensors are not supported with these arguments")


def counterpart(*paths: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the replacement of NumPy's functions with these names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        COUNTERPARTS.update(dict.fromkeys(paths, function))
        return function

    return register


def takes(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a counterpart has parameters for a call."""
    code = function.__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    any_number, any_name = code.co_flags & inspect.CO_VARARGS, code.co_flags & inspect.CO_VARKEYWORDS
    return bool((any_number or len(args) <= code.co_argcount) and (any_name or kwargs.keys() <= set(named)))


def tensor(value: Any, level: int = 0) -> Tensor:
    """An argument as a tensor: on the memory of an array; lists of tensors are stacked, lists of numbers go through NumPy."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)) and any_in(Tensor, value):
        return stack(common([tensor(v, _deeper(level)) for v in value]))
    array = np.asarray(value)
    with _declining(TypeError, ValueError):  # types and byte orders that no tensor has
        return sharing(array)


@contextlib.contextmanager
def _declining(*errors: type[Exception]) -> Iterator[None]:
    try:
        yield
    except errors as error:
        raise Declined from error


def common(tensors: list[Tensor]) -> list[Tensor]:
    """Tensors, in their common type."""
    first = tensors[0].dtype
    if all(x.dtype is first for x in tensors):
        return tensors
    wanted = functools.reduce(promote_types, [x.dtype for x in tensors])
    return [x.to(wanted) for x in tensors]


def floating(value: Any) -> Tensor:
    """An argument as a tensor of floats or complex numbers, in NumPy's type for integers."""
    x = tensor(value)
    return x if x.dtype.is_floating_point or x.dtype.is_complex else x.double()


def joined(tensors: list[Tensor], axis: int | None = 0) -> Tensor:
    """The tensors concatenated along `axis`, in their common type; axis=None flattens them first."""
    tensors = common(tensors)
    return cat([x.reshape(-1) for x in tensors]) if axis is None else cat(tensors, axis)


def any_in(kind: type, value: Any) -> bool:
    """Whether something of that kind is in nested lists."""
    return _any_that(lambda x: isinstance(x, kind), value)


def any_wanted(value: Any) -> bool:
    """Whether a tensor in nested lists is to have a gradient or a tangent."""
    return _any_that(_is_wanted, value)


def _is_wanted(x: Any) -> bool:
    return isinstance(x, Tensor) and ((x.requires_grad and is_grad_enabled()) or unpack_dual(x).tangent is not None)


def _any_that(holds: Callable[[Any], bool], value: Any, level: int = 0) -> bool:
    """Whether the condition is true of a value, or of an item of its nested lists."""
    return holds(value) or (
        isinstance(value, (list, tuple)) and any(_any_that(holds, item, _deeper(level)) for item in value)
    )


def array(value: Any, level: int = 0) -> Any:
    """A value with arrays in place of its tensors, also those that require grad."""
    if isinstance(value, Tensor):
        return value.detach().numpy()
    if type(value) not in (list, tuple):
        return value
    return type(value)(array(item, _deeper(level)) for item in value)


def _deeper(level: int) -> int:
    """The level of what is in a list; ValueError beyond NumPy's number of dimensions, as for a list that contains itself."""
    if level == MAX_DIMENSIONS:
        raise ValueError(f"lists are nested deeper than an array's {MAX_DIMENSIONS} dimensions")
    return level + 1


def axis_of(axis: Any, ndim: int) -> int:
    """An axis counted from the front; NumPy's AxisError if there is none."""
    return int(np.lib.array_utils.normalize_axis_index(axis, ndim))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes in `axis`, counted from the front: all for None."""
    return tuple(range(ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, ndim)
