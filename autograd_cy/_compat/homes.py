"""PyTorch's public place for objects that this package defines in private modules or in its core (facade)."""

import functools
import sys
from typing import Any

from .._core.ops.operations import OPS
from . import HOMES, PACKAGE, offered_in_files

_ELSEWHERE = {"RemovableHandle": f"{PACKAGE}.utils.hooks", "_WrappedHook": f"{PACKAGE}.nn.modules.module"}


def offered_beside(module: str) -> dict[str, str]:
    """offered_beside(private module) -> by name, the package around it or the public module in that package that offers it.

    A module comes before the package: `Conv2d` is in `nn.modules.conv`, not in `nn.modules`.
    """
    package = module.partition("._")[0]
    if package == PACKAGE:
        return dict.fromkeys(_offered_by_root().get(module, ()), PACKAGE)
    parent = sys.modules.get(package)
    found = dict.fromkeys(getattr(parent, "__all__", ()), package)
    if parent is not None:
        homes = offered_in_files(parent.__path__[0])
        found |= {name: f"{package}.{home}" for home, names in homes.items() for name in names}
    return found


@functools.cache
def _offered_by_root() -> dict[str, list[str]]:
    """What the package itself offers, by the private module that defines it."""
    root, later = sys.modules[PACKAGE], HOMES[PACKAGE]
    found: dict[str, list[str]] = {}
    for name in {*root.__all__, *later}:
        module = f"{PACKAGE}.{later[name]}" if name in later else getattr(vars(root)[name], "__module__", "")
        found.setdefault(module, []).append(name)
    return found


def home_of(value: Any) -> tuple[str, str]:
    """home_of(class or function) -> the module where it is found, and its name there; others than ours are where they are."""
    module, name = value.__module__, value.__qualname__
    if not module.startswith(PACKAGE + "."):
        return module, name
    if name in _ELSEWHERE:
        return _ELSEWHERE[name], name
    if module.startswith(f"{PACKAGE}._core."):
        return operation_homes(value)[0] if id(value) in _operations() else (module, name)
    if "._" in module:
        module = offered_beside(module).get(name.partition(".")[0], module)
    return module, name


def operation_homes(function: Any) -> list[tuple[str, str]]:
    """operation_homes(function) -> all modules and names under which files may name an operation, ours first."""
    op = _operations().get(id(function))
    if op is None:
        return []
    functional = sys.modules.get(f"{PACKAGE}.nn.functional")
    if functional is not None and getattr(functional, op.name, None) is function:
        return [(f"{PACKAGE}.nn.functional", op.name), (f"{PACKAGE}._C._nn", op.name), (PACKAGE, op.name)]
    if not op.namespace:
        return [(PACKAGE, op.name)]
    spelled = op.namespace.rpartition(".")[2]
    return [(f"{PACKAGE}.{op.namespace}", op.name), (f"{PACKAGE}._C._{spelled}", f"{spelled}_{op.name}")]


@functools.cache
def _operations() -> dict[int, Any]:
    return {id(op.function): op for op in OPS.values()}
