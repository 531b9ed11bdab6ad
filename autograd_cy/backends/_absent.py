"""What every library that is not used answers, and switches that can be set for a while (facade)."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any


def is_available() -> bool:
    """``is_available()`` is False: this package does not compute with this library.

    >>> import autograd_cy as ag
    >>> ag.backends.mps.is_available()
    False
    """
    return False


def is_built() -> bool:
    """``is_built()`` is False: this package is not built with this library.

    >>> import autograd_cy as ag
    >>> ag.backends.cuda.is_built()
    False
    """
    return False


def switches(module: str) -> tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]:
    """``flags`` and ``set_flags`` of a module: switches that are given by name are set, for a while or for good."""

    def set_flags(*args: Any, **given: Any) -> tuple[Any, ...]:
        owner = sys.modules[module]
        named = {name.removeprefix("_"): value for name, value in given.items() if value is not None}
        if args:
            named["enabled"] = args[0]
        before = {name: getattr(owner, name) for name in named}
        vars(owner).update(named)
        return tuple(before.values())

    @contextlib.contextmanager
    def flags(*args: Any, **given: Any) -> Iterator[None]:
        named = {name: value for name, value in given.items() if value is not None}
        names = [*(["enabled"] if args else []), *named]
        before = dict(zip(names, set_flags(*args, **named), strict=True))
        try:
            yield
        finally:
            set_flags(**before)

    path = f"ag.{module.partition('.')[2]}"
    setup = "\n\n>>> import autograd_cy as ag\n>>> "
    flags.__doc__ = (
        "``with flags(enabled=False):`` sets switches for a while; nothing depends on them."
        f"{setup}with {path}.flags(enabled=False):\n...     {path}.enabled\nFalse\n"
    )
    set_flags.__doc__ = (
        "``set_flags(_enabled=True)`` sets switches, and is what they were; nothing depends on them."
        f"{setup}{path}.set_flags(_enabled={path}.enabled) == ({path}.enabled,)\nTrue\n"
    )
    for function in (flags, set_flags):
        function.__module__, function.__qualname__ = module, function.__name__
    return flags, set_flags
