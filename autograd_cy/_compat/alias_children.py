"""The alias of torch in the processes that multiprocessing starts, by each of its start methods (facade).

A forked process has it as it has all else. One that is spawned, or that a server forks, first unpickles what it is to
prepare, and then imports the script, whose first lines may say `import torch`: what is unpickled installs the alias.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from . import PACKAGE

PREPARES = "multiprocessing.spawn"  # the module that says what a process is to prepare
SERVES = "multiprocessing.forkserver"  # the one that starts the server


class _Installed:
    """Pickled, it is code that installs the alias in the process that unpickles it, which has not got our sys.path yet."""

    def __reduce__(self) -> Any:
        code = f"import sys; sys.path[:] = {sys.path!r}; import {PACKAGE}; {PACKAGE}.install_as_torch()"
        return exec, (code, {})


def extend_preparation(spawn: Any) -> None:
    """Make `spawn.get_preparation_data()` include the alias while one is installed."""
    prepare = spawn.get_preparation_data
    if prepare.__module__ == __name__:
        return

    def get_preparation_data(name: str) -> dict[str, Any]:
        found = prepare(name)
        if "torch" in sys.modules and sys.modules["torch"].__package__ == PACKAGE:
            found["torch_alias"] = _Installed()
        return found

    spawn.get_preparation_data = get_preparation_data


def keep_main_out(forkserver: Any) -> None:
    """The server itself doesn't import the script, which some versions of Python let it do without preparation."""
    if forkserver._forkserver._preload_modules == ["__main__"]:
        forkserver.set_forkserver_preload([])


_THEN = {PREPARES: extend_preparation, SERVES: keep_main_out}


class _LoaderThen:
    """The loader of one of these modules, and the function to apply to the loaded module."""

    def __init__(self, loader: Any, then: Any):
        self.loader, self.then = loader, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self.loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.then(module)


def find_spec(name: str, path: Any) -> ModuleSpec | None:
    """The spec of a module that is to be extended once it is loaded, or None for any other."""
    if name not in _THEN:
        return None
    spec = PathFinder.find_spec(name, path)
    if spec is not None:
        spec.loader = _LoaderThen(spec.loader, _THEN[name])  # type: ignore[assignment]
    return spec


def extend_loaded() -> None:
    """Extend those that are loaded already."""
    for name, then in _THEN.items():
        if name in sys.modules:
            then(sys.modules[name])
