"""This package under the name of torch: scripts that import torch get it (facade)."""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType, TracebackType
from typing import Any

from .._core.runtime.entry import public
from . import PACKAGE, alias_children, alias_names
from .missing import nearest_names, torch_names

# PyTorch's private modules that libraries import, and that are in rooms here.
_IN_ROOMS = {"._lobpcg": "._functional.lobpcg", "._lowrank": "._functional.lowrank", "._tensor_str": "._tensor.text"}


class _SameModule:
    """A loader that loads nothing: the module exists already, under this package's name."""

    def __init__(self, module: ModuleType):
        self.module, self.own_spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own_spec  # the import system has set the alias's spec
        _enter_members(module)


def _enter_members(package: ModuleType) -> None:
    """Also enter the loaded modules of a package: importing one again would replace a function of the same name."""
    prefix = f"{PACKAGE}{package.__name__.removeprefix('torch').removeprefix(PACKAGE)}."
    for name, member in list(sys.modules.items()):
        if name.startswith(prefix) and not name.startswith(f"{PACKAGE}._core"):
            sys.modules.setdefault("torch" + name[len(PACKAGE) :], member)


class TorchModule(ModuleType):
    """The module `torch` of an alias: this package's names under PyTorch's version. What is assigned to it is to both."""

    def __init__(self, package: ModuleType):
        from ..torch_version import __version__

        kept = ("__getattr__", "__dir__", "__version__", "__name__")
        own = {name: value for name, value in vars(package).items() if name not in kept}
        vars(self).update(own, __name__="torch", __package__=package.__name__, __version__=__version__)

    @public
    def __getattr__(self, name: str) -> Any:  # later and missing names
        value = getattr(sys.modules[PACKAGE], name)
        vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name != "__version__":
            setattr(sys.modules[PACKAGE], name, value)

    def __delattr__(self, name: str) -> None:
        if name in vars(self):
            super().__delattr__(name)
        delattr(sys.modules[PACKAGE], name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(sys.modules[PACKAGE]), *vars(self)})


class TorchAlias:
    """What install_as_torch() returns: in force until ``remove()``, or the end of the with block.

    It is first in `sys.meta_path`, and handles torch, its submodules, and names that are missing here.

    >>> import autograd_cy as ag
    >>> ag.install_as_torch.__annotations__["return"].__name__
    'TorchAlias'
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "torch" or name.startswith("torch."):
            if name == "torch":
                module: ModuleType = TorchModule(sys.modules[PACKAGE])
                return ModuleSpec(name, _SameModule(module), origin=module.__file__, is_package=True)  # type: ignore[arg-type]
            inside, entered = name[len("torch") :], name in sys.modules
            ours = PACKAGE + _IN_ROOMS.get(inside, inside)
            try:
                module = importlib.import_module(ours)
            except ModuleNotFoundError as error:
                if error.name not in (name, ours):
                    raise
                raise _missing_module(name) from None
            if not entered:  # the renaming has entered it: importlib would take its own spec instead, and load it again
                sys.modules.pop(name, None)
            loader = _SameModule(module)
            origin = getattr(module, "__file__", None)  # torch.ops has none
            return ModuleSpec(name, loader, origin=origin, is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]
        # `from torch import x` looks for a module autograd_cy.x where there is no attribute x. The core has its own finder.
        if name.startswith("multiprocessing."):
            return alias_children.find_spec(name, path)
        is_facade = name.startswith(f"{PACKAGE}.") and not name.startswith(f"{PACKAGE}._core.")
        if is_facade:
            spec = PathFinder.find_spec(name, path)
            if spec is None:
                raise _missing_module("torch" + name[len(PACKAGE) :])
            return alias_names.renamed_later(spec)
        return None

    def find_distributions(self, context: Any) -> list[Any]:
        """For `importlib.metadata.version("torch")`; a list of all distributions has no torch."""
        if (context.name or "").lower() != "torch":
            return []
        from .alias_metadata import TorchDistribution

        return [TorchDistribution()]

    def remove(self) -> None:
        """Remove the alias; without another one, the next `import torch` looks for PyTorch."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if not any(isinstance(finder, TorchAlias) for finder in sys.meta_path):
            for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
                del sys.modules[name]
            alias_names.restore()

    def __enter__(self) -> "TorchAlias":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.remove()


def install_as_torch() -> TorchAlias:
    """``install_as_torch()`` makes `import torch` in this process import this package.

    Its names are this package's, its version is the compatible PyTorch's. So do
    `import torch.nn.functional as F`, `from torch.autograd import Function` and the like. A missing name raises
    ModuleNotFoundError, or the AttributeError of this package's modules. `remove()` of the result, or the end of a with
    block, ends it. ImportError if PyTorch is imported already. `python -m autograd_cy script.py` runs a whole script that
    way. Processes that multiprocessing starts while it is in force have it, too.

    >>> import subprocess, sys
    >>> script = '''
    ... import autograd_cy
    ... with autograd_cy.install_as_torch():
    ...     import torch
    ... print(torch.Tensor is autograd_cy.Tensor, torch.__version__)
    ... '''
    >>> subprocess.check_output([sys.executable, "-c", script], text=True).strip()
    'True 2.13.0+autograd_cy'
    """
    package = sys.modules[PACKAGE]
    existing = sys.modules.get("torch")
    if existing is not None and not isinstance(existing, TorchModule):
        where = getattr(existing, "__file__", None)
        raise ImportError(
            f"torch is imported already, from {where}: call install_as_torch() before anything imports it, or run the "
            f"script by `python -m {PACKAGE} script.py`"
        )
    alias = TorchAlias()
    sys.meta_path.insert(0, alias)
    if existing is None:
        sys.modules["torch"] = TorchModule(package)
    alias_names.rename_all()
    alias_children.extend_loaded()
    return alias


def _missing_module(name: str) -> ModuleNotFoundError:
    """The error for a module or a name below torch that this package has not."""
    import pkgutil  # not needed before a script is wrong

    parent, _, last = name.rpartition(".")
    ours = sys.modules.get(PACKAGE + parent[len("torch") :])
    offered = [n for n in dir(ours) if not n.startswith("_")]
    offered += [module.name for module in pkgutil.iter_modules(getattr(ours, "__path__", ()))]
    known = last in torch_names().get(parent, ()) or name in torch_names()["modules"]
    verdict = "PyTorch has it, this package does not (yet)" if known else "it has no such name"
    nearest = ", ".join(nearest_names(last, {n for n in offered if not n.startswith("_")}))
    text = f"No module named {name!r}: {PACKAGE} stands in for torch here; {verdict}."
    shown = PACKAGE + name[len("torch") :] if _is_from_import() else name
    return ModuleNotFoundError(f"{text} Nearest: {nearest}." if nearest else text, name=shown)


def _is_from_import() -> bool:
    """Whether `from torch import x` looks for a module x: it hides an error with the name of that module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "_handle_fromlist":
        is_import = frame.f_globals.get("__name__") in (__name__, "importlib._bootstrap", "importlib")
        frame = frame.f_back if is_import else None
    return frame is not None
