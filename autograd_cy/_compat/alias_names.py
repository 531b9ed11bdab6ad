"""Under the alias of torch, modules, classes and functions say torch, as PyTorch's do (facade).

A module is renamed when it is loaded, or when the alias comes if it is loaded already; `restore` gives all names back. What
a private module defines for the package around it is the package's: `torch.Size`, not `torch._types.Size`; or that of the
module beside it that offers it: `torch.nn.modules.conv.Conv2d`. The core keeps its names, but for Tensor.
"""

import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any

from .._core.graph.tensor import name_tensor
from .._core.runtime.entry import public
from . import PACKAGE
from .homes import offered_beside

_NAMED = (type, FunctionType, type(public))  # classes, functions, and functions that @public has wrapped

_before: list[tuple[Any, str, str]] = []  # renamed: object, attribute, old value


class _Renaming(SourceFileLoader):
    """The loader of a module of ours that is renamed once it is loaded."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if _before:  # the alias is still in force
            rename(module)


def renamed_later(spec: ModuleSpec) -> ModuleSpec | None:
    """The spec of a module of ours, to be renamed when it is loaded; None for other than source files."""
    if type(spec.loader) is not SourceFileLoader:
        return None
    spec.loader = _Renaming(spec.loader.name, spec.loader.path)
    return spec


def rename_all() -> None:
    """Rename all loaded modules."""
    if _before:
        return
    name_tensor(True)
    for name, module in list(sys.modules.items()):
        if _is_facade(name) and name != PACKAGE:
            rename(module)
    _rename_members(sys.modules[PACKAGE], PACKAGE)


def restore() -> None:
    """Give all names back."""
    for owner, attribute, value in reversed(_before):
        setattr(owner, attribute, value)
    _before.clear()
    name_tensor(False)


def rename(module: ModuleType) -> None:
    """Let a module of ours, and what it defines or offers, say torch."""
    ours = module.__name__
    if not _is_facade(ours):
        return
    sys.modules.setdefault(_torch(ours), module)
    _set(module, "__name__", _torch(ours))
    _rename_members(module, ours)


def _rename_members(module: ModuleType, ours: str) -> None:
    offered = offered_beside(ours) if "._" in ours else {}
    for name, value in list(vars(module).items()):
        if not isinstance(value, _NAMED):
            continue
        home = value.__module__
        if home == ours:
            _set(value, "__module__", _torch(offered.get(name, ours)))
        elif name[0] != "_" and home.startswith((_torch(ours) + "._", ours + "._")) and "._core." not in home:
            _set(value, "__module__", _torch(ours))  # from a private module of this package


def _set(owner: Any, attribute: str, value: str) -> None:
    try:
        before, line = getattr(owner, attribute), vars(owner).get("__firstlineno__")
        setattr(owner, attribute, value)
        if line is not None:  # where inspect looks for a class; Python 3.13 forgets it with the module
            owner.__firstlineno__ = line
    except (AttributeError, TypeError):  # a compiled class
        return
    _before.append((owner, attribute, before))


def _torch(ours: str) -> str:
    return "torch" + ours[len(PACKAGE) :]


def _is_facade(name: str) -> bool:
    outside = (f"{PACKAGE}._core", f"{PACKAGE}._compat.alias", f"{PACKAGE}.__main__")
    return (name == PACKAGE or name.startswith(PACKAGE + ".")) and not name.startswith(outside)
