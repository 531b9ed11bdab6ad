"""Write autograd_cy/_compat/torch_names.txt, the public names of PyTorch, for messages about missing names.

    python -m tools.torch_names

Sorted names, in a section for each namespace, of the installed PyTorch, whose version the file states.
"""

import importlib
import pkgutil
import textwrap
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "autograd_cy" / "_compat" / "torch_names.txt"
NAMESPACES = (
    "torch", "torch.Tensor", "torch.autograd", "torch.autograd.profiler", "torch.autograd.profiler_util", "torch.nn",
    "torch.nn.functional", "torch.profiler", "torch.testing", "torch.utils.benchmark",
)  # fmt: skip


def public_names(namespace):
    """The names that a namespace defines, without those it imports from elsewhere."""
    owner = find(namespace)
    listed = set(getattr(owner, "__all__", ()))
    names = [name for name in dir(owner) if not name.startswith("_") and name != "torch"]
    if isinstance(owner, type):
        return names
    return [name for name in names if name in listed or is_torch_s(getattr(owner, name))]


def find(namespace):
    """The module or class of that name."""
    try:
        return importlib.import_module(namespace)
    except ModuleNotFoundError:
        module, _, name = namespace.rpartition(".")
        return getattr(importlib.import_module(module), name)


def module_names(path=None, prefix="torch.", depth=2):
    """The modules that users import, by full names of up to three parts; read from the folders, without importing."""
    paths = importlib.import_module("torch").__path__ if path is None else [path]
    for module in pkgutil.iter_modules(paths):
        if not module.name.startswith("_"):
            yield prefix + module.name
            if module.ispkg and depth > 1:
                below = Path(module.module_finder.path, module.name)
                yield from module_names(str(below), f"{prefix}{module.name}.", depth - 1)


def is_torch_s(value):
    """Whether a value is a module, function or class of PyTorch, or an instance of one."""
    for attribute in ("__module__", "__name__"):
        home = getattr(value, attribute, None)
        if isinstance(home, str):
            return home.startswith("torch")
    return type(value).__module__.startswith("torch")


def render():
    """The text of the file."""
    version = importlib.import_module("torch").__version__.partition("+")[0]
    lines = [f"The public names of PyTorch {version}; written by tools/torch_names.py."]
    for namespace in NAMESPACES:
        names = textwrap.wrap(" ".join(public_names(namespace)), 118, break_on_hyphens=False)
        lines += ["", f"[{namespace}]", *names]
    lines += ["", "[modules]", *textwrap.wrap(" ".join(sorted(module_names())), 118, break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8", newline="\n")
