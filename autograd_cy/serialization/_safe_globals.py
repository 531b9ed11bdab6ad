"""The names that a checkpoint may use: a closed list, to which users can add their classes (facade)."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from .._compat.homes import home_of, operation_homes
from .._core.runtime.entry import public

OURS, TORCH = "autograd_cy", "torch"
_added: dict[str, Any] = {}


def name_in_torch(value: Any) -> tuple[str, str]:
    """name_in_torch(class or function) -> the module and name in files: PyTorch's for our objects."""
    module, name = home_of(value)
    return (TORCH + module.removeprefix(OURS) if _is_ours(module) else module), name


def _is_ours(module: str) -> bool:
    return module == OURS or module.startswith(OURS + ".")


def _names_of(value: Any) -> list[str]:
    """All names that files may have for a class or function."""
    found = [name_in_torch(value)]
    if _is_ours(value.__module__):
        found += [(TORCH + module.removeprefix(OURS), name) for module, name in operation_homes(value)]
    return [f"{module}.{name}" for module, name in found]


def added(name: str) -> Any:
    """added(name) -> the object added under this name, or None."""
    return _added.get(name)


def allows_type(kind: type) -> bool:
    """Whether a file may create instances of a class: the class was added."""
    return kind in _added.values()


def _checked(entries: Sequence[Any]) -> dict[str, Any]:
    """The entries by name; an entry is a class or function, or a pair of one and its name in files."""
    found: dict[str, Any] = {}
    for entry in entries:
        value, name = entry if isinstance(entry, tuple) else (entry, None)
        if not callable(value) or not hasattr(value, "__qualname__"):
            raise TypeError(f"add_safe_globals(): expected classes or functions, got {type(value).__name__}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"add_safe_globals(): expected the name of {value!r} to be a string, got {type(name).__name__}")
        found |= dict.fromkeys(_names_of(value) if name is None else [name], value)
    return found


@public
def add_safe_globals(safe_globals: Sequence[Callable[..., Any] | tuple[Callable[..., Any], str]]) -> None:
    """``add_safe_globals([Config])`` allows load() to create these classes, and call these functions, for a file.

    A pair ``(class, "module.Name")`` uses that name. Files choose the arguments: add only classes and functions that are
    harmless for any arguments. TypeError for other objects.

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
    """``get_safe_globals()`` lists the added classes and functions.

    >>> import autograd_cy as ag
    >>> ag.serialization.get_safe_globals()
    []
    """
    return list({id(value): value for value in _added.values()}.values())


@public
def clear_safe_globals() -> None:
    """``clear_safe_globals()`` removes all added classes and functions.

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
