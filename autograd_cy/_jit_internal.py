"""What libraries take from ``torch._jit_internal``: decorators that mark functions for a compiler (facade)."""

import builtins
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Final, TypeVar, Union, get_args, get_origin

from ._compat import answers as _answers
from .futures import Future

__all__ = [
    "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "BroadcastingList4", "BroadcastingList5",
    "BroadcastingList6", "Final", "Future", "boolean_dispatch", "export", "ignore", "interface", "is_scripting", "unused",
]  # fmt: skip

F = TypeVar("F")

unused, export, interface = _answers.unchanged(), _answers.unchanged(), _answers.unchanged()
_overload, _overload_method, _copy_to_script_wrapper, _drop = (_answers.unchanged() for _ in range(4))
is_scripting = _answers.answers(False)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """``@ignore`` or ``@ignore(drop=True)`` above a function that a compiler would leave to Python: it comes back as it is.

    >>> from autograd_cy._jit_internal import ignore
    >>> ignore(abs) is ignore(drop=True)(abs) is abs
    True
    """
    return drop if callable(drop) else lambda function: function


class _BroadcastingList:
    """``BroadcastingList2[int]``: for annotations only."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList1


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str | None = None,
    func_name: str | None = None,
) -> Callable[..., Any]:
    """``boolean_dispatch("flag", 1, False, f, g)`` is a function that calls f where its argument `flag` is true, else g.

    >>> from autograd_cy._jit_internal import boolean_dispatch
    >>> boolean_dispatch("largest", 1, True, lambda x, largest: max(x), lambda x, largest=False: min(x))([1, 2], largest=True)
    2
    """

    @functools.wraps(if_true if if_true.__doc__ else if_false)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if flag else if_false)(*args, **kwargs)

    dispatched.__module__ = module_name or dispatched.__module__
    dispatched.__name__ = func_name or dispatched.__name__
    return dispatched


def _isinstance(obj: Any, target_type: Any) -> bool:
    """Whether a value is of a type, or of one of a tuple of types; types of elements are looked at, too."""
    if isinstance(target_type, tuple):
        return any(_isinstance(obj, kind) for kind in target_type)
    origin, args = get_origin(target_type), get_args(target_type)
    if origin is None:
        is_bare = target_type is not Any and getattr(target_type, "__module__", "") == "typing"
        if is_bare or target_type in (list, dict, tuple):
            raise RuntimeError(f"Attempted to use {target_type} without a contained type: give one, as in List[int]")
        return target_type is Any or isinstance(obj, builtins.type(None) if target_type is None else target_type)
    if origin in (Union, types.UnionType):
        return any(_isinstance(obj, builtins.type(None) if kind is None else kind) for kind in args)
    if not isinstance(obj, origin):
        return False
    if origin is tuple:
        return len(obj) == len(args) and all(map(_isinstance, obj, args))
    if origin is dict:
        return all(_isinstance(k, args[0]) and _isinstance(v, args[1]) for k, v in obj.items())
    return all(_isinstance(element, args[0]) for element in obj) if origin is list else True


def get_callable_argument_names(fn: Callable[..., Any]) -> list[str]:
    """The names of the arguments that may be given by position and by name; none if there are others."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters] if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) else []


_answers.named(globals(), "nothing is compiled here")
