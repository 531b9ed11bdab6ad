"""Modes that see each call of an operation, under the names of torch.overrides (facade)."""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.overrides import calls_handed_to, disabled_torch_function, put_back

_stack: ContextVar[tuple["TorchFunctionMode", ...]] = ContextVar("autograd_cy function modes", default=())


class TorchFunctionMode:
    """``class Mode(TorchFunctionMode)``: within ``with Mode():`` its ``__torch_function__(func, types, args, kwargs)`` answers
    each call of an operation, and of a function that makes tensors; ``func(*args, **kwargs)`` is the usual answer.

    Within that method calls go to the mode around this one. ``types`` are the classes among the arguments that override, too.

    >>> import autograd_cy as ag
    >>> from autograd_cy.overrides import TorchFunctionMode
    >>> class Noted(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Noted():
    ...     x = ag.ones(2) + 1
    ones
    add
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        self.__dict__.setdefault("_entered", []).append(_stack_as((*_stack.get(), self)))
        self.__dict__["_entered"][-1].__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.__dict__["_entered"].pop().__exit__(*exception)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """``push(...)`` is an instance, to be entered."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """``BaseTorchFunctionMode()`` sees calls, and makes them as they are.

    >>> import autograd_cy as ag
    >>> with ag.overrides.BaseTorchFunctionMode():
    ...     print(ag.ones(1) + 1)
    tensor([2.])
    """

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _stack_as(modes: tuple[TorchFunctionMode, ...]) -> Iterator[None]:
    """Let these be the modes in force, the last of them first to be asked."""
    token = _stack.set(modes)
    try:
        with calls_handed_to(_answer if modes else None, creations=True):
            yield
    finally:
        put_back(_stack, token)


def _answer(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    *outer, mode = _stack.get()
    with _stack_as(tuple(outer)):
        result = mode.__torch_function__(function, _overriding_types(args, kwargs), args, kwargs)
        return function(*args, **kwargs) if result is NotImplemented else result


def _overriding_types(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[type, ...]:
    found: dict[type, None] = {}
    for value in (*args, *kwargs.values()):
        for item in value if type(value) in (list, tuple) else (value,):
            override = getattr(type(item), "__torch_function__", None)
            if override is not None and type(item) is not Tensor and override is not disabled_torch_function:
                found[type(item)] = None
    return tuple(found)


def _get_current_function_mode() -> TorchFunctionMode | None:
    """``_get_current_function_mode()``: the innermost mode; None if there is none."""
    modes = _stack.get()
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """``_get_current_function_mode_stack()``: the modes in force, the outermost first."""
    return list(_stack.get())


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    """``with _pop_mode_temporarily() as mode:`` the innermost mode sees no calls."""
    *outer, mode = _stack.get()
    with _stack_as(tuple(outer)):
        yield mode
