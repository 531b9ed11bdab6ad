"""What a checkpoint may name: a closed list, to which users add classes of theirs (facade)."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from .._core.runtime.entry import public

OURS, TORCH = "autograd_cy", "torch"
_added: dict[str, Any] = {}


def global_name(value: Any) -> str:
    """global_name(value) -> the name of a class or function in a file: that of PyTorch for what is ours."""
    module, name = value.__module__, value.__qualname__
    if module == OURS or module.startswith(OURS + "."):
        module = TORCH + module.removeprefix(OURS)
    return f"{module}.{name}"


def added(name: str) -> Any:
    """added(name) -> what was added under this name, or None."""
    return _added.get(name)


def allows_type(kind: type) -> bool:
    """Whether instances of a class may be made as a file says: the class was added."""
    return kind in _added.values()


def _checked(entries: Sequence[Any]) -> dict[str, Any]:
    """By name; an entry is a class or function, or a pair of one and its name in files."""
    found = {}
    for entry in entries:
        value, name = entry if isinstance(entry, tuple) else (entry, None)
        if not callable(value) or not hasattr(value, "__qualname__"):
            raise TypeError(f"add_safe_globals(): expected classes or functions, got {type(value).__name__}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"add_safe_globals(): expected the name of {value!r} to be a string, got {type(name).__name__}")
        found[global_name(value) if name is None else name] = value
    return found


@public
def add_safe_globals(safe_globals: Sequence[Callable[..., Any] | tuple[Callable[..., Any], str]]) -> None:
    """``add_safe_globals([Config])`` lets load() make instances of these classes, and call these functions, if a file asks to.

    A pair ``(class, "module.Name")`` goes by that name. They are trusted with any arguments: add what is harmless whatever it
    is called with. TypeError for what is no class or function.

    >>> import autograd_cy as ag
    >>> from fractions import Fraction
    >>> ag.serialization.add_safe_globals([Fraction])
    >>> ag.serialization.get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> ag.serialization.clear_safe_globals()
    """
    _added.update(_checked(safe_globals))


@public
def get_safe_globals() -> list[Any]:
    """``get_safe_globals()`` are the classes and functions that were added.

    >>> import autograd_cy as ag
    >>> ag.serialization.get_safe_globals()
    []
    """
    return list(_added.values())


@public
def clear_safe_globals() -> None:
    """``clear_safe_globals()`` takes back what was added.

    >>> import autograd_cy as ag
    >>> ag.serialization.clear_safe_globals()
    """
    _added.clear()


class safe_globals(contextlib.ContextDecorator):
    """``with safe_globals([Config]):`` add_safe_globals() for the block.

    >>> import autograd_cy as ag
    >>> from fractions import Fraction
    >>> with ag.serialization.safe_globals([Fraction]):
    ...     ag.serialization.get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> ag.serialization.get_safe_globals()
    []
    """

    def __init__(self, safe_globals: Sequence[Any]):
        self._entries = _checked(safe_globals)
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self._before.append(dict(_added))
        _added.update(self._entries)

    def __exit__(self, *error: object) -> None:
        _added.clear()
        _added.update(self._before.pop())
