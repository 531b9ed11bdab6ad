"""This package under the name of torch: scripts that import torch get it (facade)."""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType, TracebackType

from ._missing import torch_names

PACKAGE = __name__.partition(".")[0]


class _SameModule:
    """A loader that loads nothing: the module exists already, under the name that this package gives it."""

    def __init__(self, module: ModuleType):
        self.module, self.own_spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own_spec  # the import system has put in that of the alias


class TorchAlias:
    """What install_as_torch() returns: in force until ``remove()``, or the end of the with block.

    It stands first in `sys.meta_path`, and answers for torch, all below it, and for names that are missing here.

    >>> import autograd_cy as ag
    >>> ag.install_as_torch.__annotations__["return"].__name__
    'TorchAlias'
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "torch" or name.startswith("torch."):
            ours = PACKAGE + name[len("torch") :]
            try:
                module = importlib.import_module(ours)
            except ModuleNotFoundError as error:
                if error.name not in (name, ours):
                    raise
                raise _missing_module(name) from None
            loader = _SameModule(module)
            return ModuleSpec(name, loader, origin=module.__file__, is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]
        # `from torch import x` looks for a module autograd_cy.x where there is no attribute x
        if name.startswith(f"{PACKAGE}.") and PathFinder.find_spec(name, path) is None:
            raise _missing_module("torch" + name[len(PACKAGE) :])
        return None

    def remove(self) -> None:
        """Take the name back; when nobody else holds it, the next `import torch` looks for PyTorch."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if not any(isinstance(finder, TorchAlias) for finder in sys.meta_path):
            for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
                del sys.modules[name]

    def __enter__(self) -> "TorchAlias":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.remove()


def install_as_torch() -> TorchAlias:
    """``install_as_torch()`` makes `import torch` in this process import this package: `torch is autograd_cy`.

    So do `import torch.nn.functional as F`, `from torch.autograd import Function` and the like. What this package has not
    is a ModuleNotFoundError, or the AttributeError of its own modules. The result takes the name back by `remove()`, or
    at the end of a with block. ImportError if PyTorch is imported already. `python -m autograd_cy script.py` runs a whole
    script that way; a process that multiprocessing spawns has to install anew.

    >>> import subprocess, sys
    >>> script = '''
    ... import autograd_cy
    ... with autograd_cy.install_as_torch():
    ...     import torch
    ... print(torch is autograd_cy)
    ... '''
    >>> subprocess.check_output([sys.executable, "-c", script], text=True).strip()
    'True'
    """
    package = sys.modules[PACKAGE]
    existing = sys.modules.get("torch")
    if existing is not None and existing is not package:
        where = getattr(existing, "__file__", None)
        raise ImportError(
            f"torch is imported already, from {where}: call install_as_torch() before anything imports it, or run the "
            f"script by `python -m {PACKAGE} script.py`"
        )
    alias = TorchAlias()
    sys.meta_path.insert(0, alias)
    sys.modules["torch"] = package
    return alias


def _missing_module(name: str) -> ModuleNotFoundError:
    """The error for a module or a name below torch that this package has not."""
    import difflib  # not needed before a script is wrong
    import pkgutil

    parent, _, last = name.rpartition(".")
    ours = sys.modules.get(PACKAGE + parent[len("torch") :])
    offered = [n for n in dir(ours) if not n.startswith("_")]
    offered += [module.name for module in pkgutil.iter_modules(getattr(ours, "__path__", ()))]
    verdict = "PyTorch has it, this package does not (yet)" if last in torch_names().get(parent, ()) else "it has no such name"
    nearest = ", ".join(difflib.get_close_matches(last, sorted({n for n in offered if not n.startswith("_")})))
    text = f"No module named {name!r}: {PACKAGE} stands in for torch here; {verdict}."
    return ModuleNotFoundError(f"{text} Nearest: {nearest}." if nearest else text, name=name)
