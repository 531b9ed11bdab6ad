"""AttributeErrors for names that PyTorch has and this package lacks (facade).

For a module that is its `__getattr__`; for Tensor, a descriptor under each missing name. Neither costs anything where
an attribute exists, and `hasattr` is False for a missing name. A `__getattr__` of Tensor itself would slow down every
access to an attribute.
"""

import functools
import importlib
import os.path
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from .._core.graph.tensor import Tensor, extend
from . import PACKAGE


class MissingAttribute(AttributeError):
    """Raised for a name that PyTorch has here. The nearest names of ours are looked for when the message is read.

    >>> import autograd_cy as ag
    >>> try:
    ...     ag.tenser
    ... except AttributeError as error:
    ...     print(error)
    module 'autograd_cy' has no attribute 'tenser'
    >>> hasattr(ag, "package"), hasattr(ag.ones(2), "to_mkldnn")
    (False, False)
    """

    def __init__(self, message: str, name: str = "", owner: Any = None):
        super().__init__(message)
        self.name, self.obj = name, owner

    def __str__(self) -> str:
        is_missing = functools.partial(_is_missing, self.obj if isinstance(self.obj, type) else type(self.obj))
        ours = [name for name in dir(self.obj) if not name.startswith("_") and not is_missing(name)]
        nearest = ", ".join(nearest_names(self.name or "", ours))
        text = f"{self.args[0]}: PyTorch has it, this package does not (yet)."
        return f"{text} Nearest: {nearest}." if nearest else text


def nearest_names(name: str, ours: Iterable[str]) -> list[str]:
    """Our names with a similar spelling; short words are similar by chance."""
    import difflib  # not needed before a script is wrong

    alike = difflib.get_close_matches(name, sorted(ours), cutoff=0.8)
    return [found for found in alike if min(len(found), len(name)) > 5]


@functools.cache
def torch_names() -> dict[str, list[str]]:
    """The public names of PyTorch for each of its namespaces, and under "modules" the modules that it has."""
    sections = (section.partition("]") for section in _text_of_names().split("[")[1:])
    return {namespace: names.split() for namespace, _, names in sections}


def _text_of_names() -> str:
    with open(os.path.join(os.path.dirname(__file__), "torch_names.txt"), encoding="utf-8") as file:
        return file.read()


def getattr_of(module: str, namespace: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of our module for a namespace of PyTorch."""

    def __getattr__(name: str) -> NoReturn:
        message = f"module {module!r} has no attribute {name!r}"
        known = torch_names()
        if name.startswith("_") or (name not in known.get(namespace, ()) and f"{namespace}.{name}" not in known["modules"]):
            raise AttributeError(message, name=name, obj=sys.modules[module])
        raise MissingAttribute(message, name, sys.modules[module])

    return __getattr__


class MissingMethod:
    """Under a name that Tensor lacks. No data descriptor: users may give a tensor an attribute of that name."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Tensor | None, owner: type) -> NoReturn:
        start = f"type object {owner.__name__!r}" if tensor is None else f"{owner.__name__!r} object"
        raise MissingAttribute(f"{start} has no attribute {self.name!r}", self.name, owner if tensor is None else tensor)


def _is_missing(cls: type, name: str) -> bool:
    """Whether instances of a class find nothing but a MissingMethod under a name."""
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return isinstance(found, MissingMethod)


def dir_of_tensor(tensor: Tensor) -> Iterable[str]:
    """dir(tensor), without missing names."""
    own, cls = vars(tensor), type(tensor)
    return [name for name in object.__dir__(tensor) if name in own or not _is_missing(cls, name)]


class LaterMethod:
    """Under a method of sparse tensors: their module, which attaches it, is imported on first use."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Tensor | None, owner: type) -> Any:
        importlib.import_module(f"{PACKAGE}.sparse._names")
        return getattr(owner if tensor is None else tensor, self.name)


_SPARSE = (
    "_coalesced_ _indices _nnz _values coalesce col_indices crow_indices dense_dim indices is_coalesced resize_as_sparse_ "
    "smm sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm to_sparse to_sparse_coo to_sparse_csr values"
).split()


def mark_missing_methods() -> None:
    """Put a descriptor under each public name that torch.Tensor has and Tensor has not."""
    for name in _SPARSE:
        extend(name, LaterMethod(name))
    ours = vars(Tensor)
    section = _text_of_names().partition("[torch.Tensor]")[2].partition("[")[0]  # without the others, at each import
    for name in section.split():
        if name not in ours:
            extend(name, MissingMethod(name))
    extend("__dir__", dir_of_tensor)
