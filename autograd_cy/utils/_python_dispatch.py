"""Modes that intercept operations, under the names of torch.utils._python_dispatch (facade).

There is no dispatcher below the operations here: such a mode gets the calls that a function mode gets, each as an overload of
`torch.ops.aten`.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .._ops import overload_of
from .._settings.function_modes import TorchFunctionMode, _get_current_function_mode_stack, _stack_as

__all__ = ["BaseTorchDispatchMode", "TorchDispatchMode"]


class TorchDispatchMode(TorchFunctionMode):
    """``class Mode(TorchDispatchMode)``: within ``with Mode():`` its ``__torch_dispatch__(func, types, args, kwargs)`` answers
    each call of an operation; ``func`` is an overload of `torch.ops.aten`, and ``func(*args, **kwargs)`` the usual result.

    >>> import autograd_cy as ag
    >>> from autograd_cy.utils._python_dispatch import TorchDispatchMode
    >>> class Noted(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Noted():
    ...     x = ag.ones(2) + 1
    aten.ones.default
    aten.add.Tensor
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        super().__init__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.__torch_dispatch__(overload_of(func, args, kwargs or {}), types, args, kwargs or {})


class BaseTorchDispatchMode(TorchDispatchMode):
    """``BaseTorchDispatchMode()`` passes all calls on unchanged."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """``_get_current_dispatch_mode()``: the innermost such mode; None if there is none."""
    modes = _get_current_dispatch_mode_stack()
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """``_get_current_dispatch_mode_stack()``: the active modes of this kind, the outermost first."""
    return [mode for mode in _get_current_function_mode_stack() if isinstance(mode, TorchDispatchMode)]


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """``with _disable_current_modes():`` disables such modes."""
    modes = _get_current_function_mode_stack()
    with _stack_as(tuple(mode for mode in modes if not isinstance(mode, TorchDispatchMode))):
        yield [mode for mode in modes if isinstance(mode, TorchDispatchMode)]
