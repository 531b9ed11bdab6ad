"""PyTorch's names: imported on first use, missing, constant or found elsewhere, and the alias of torch (facade).

Packages use `names_later` for names that need an import but that few programs use.
"""

import functools
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._core.runtime.entry import public

PACKAGE = __name__.partition(".")[0]

# For each module, the submodules that have its later names. The stubs are made of it.
HOMES: dict[str, dict[str, str]] = {}


def names_later(
    module: str, homes: dict[str, Sequence[str]], otherwise: Callable[[str], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module that takes names from others, by the submodule that has them.

    A submodule without names is itself the attribute; else its name can be one of them. `otherwise` handles all other
    names.
    """
    return names_at(module, {name: home for home, names in homes.items() for name in names or [home]}, otherwise)


def names_at(
    module: str, home_of: dict[str, str], otherwise: Callable[[str], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """names_later() of a table by name: the submodule that has it, or that is itself the attribute."""
    HOMES[module] = home_of

    @public
    def __getattr__(name: str) -> Any:
        home = home_of.get(name)
        if home is not None:
            package = module if hasattr(sys.modules[module], "__path__") else module.rpartition(".")[0]
            submodule = importlib.import_module(f"{package}.{home}")
            value = submodule if name == home else getattr(submodule, name)
            setattr(sys.modules[module], name, value)
            return value
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[module]), *home_of})

    return __getattr__, __dir__


@functools.cache
def offered_in_files(folder: str) -> dict[str, list[str]]:
    """The `__all__` of each public module in a folder, read from its source: the module may be loaded later or never."""
    found = {}
    for file in sorted(os.listdir(folder)):
        module, extension = os.path.splitext(file)
        if extension == ".py" and not module.startswith("_"):
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                listed = source.read().partition("\n__all__ = [")[2].partition("]")[0]
            found[module] = listed.split('"')[1::2]
    return found
