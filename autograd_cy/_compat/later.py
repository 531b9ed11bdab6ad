"""Names of a module that are imported when somebody first asks for them: they would cost an import that few need (facade)."""

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._core.runtime.entry import public

# For each module, the submodules that have its later names. The stubs are made of it.
HOMES: dict[str, dict[str, str]] = {}


def names_later(
    module: str, homes: dict[str, Sequence[str]], otherwise: Callable[[str], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module that takes names from others, by the submodule that has them.

    A submodule without names is itself what is asked for; else its name can be one of them. `otherwise` answers for all
    other names.
    """
    home_of = HOMES[module] = {name: home for home, names in homes.items() for name in names or [home]}

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
