"""Containers of modules, by index or by name (facade)."""

import operator
import warnings
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from itertools import chain
from typing import Any, Self

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ._parameter_containers import ParameterDict, ParameterList
from ._parameter_containers import pairs as _pairs
from .module import Module, _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """``Container(**modules)``: deprecated by PyTorch, as Module does the same."""

    def __init__(self, **kwargs: Any):
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """Modules by index."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _name_at(self, index: Any) -> str:
        """The name of the module at an index; IndexError if there is none."""
        index, size = operator.index(index), len(self)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    @_public
    def __setitem__(self, index: int, module: Any) -> None:
        setattr(self, self._name_at(index), module)

    @_public
    def __delitem__(self, index: Any) -> None:
        for name in list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]:
            delattr(self, name)
        self._modules = OrderedDict((str(i), module) for i, module in enumerate(self._modules.values()))

    @_public
    def pop(self, key: Any) -> Any:
        """``pop(index)`` removes a module, or a slice of modules, and returns it."""
        removed = self[key]
        del self[key]
        return removed

    def append(self, module: Any) -> Self:
        """``append(module)`` adds a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def _make_room(self, index: int) -> None:
        for i in range(len(self._modules), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError


class Sequential(_Numbered):
    """``Sequential(*modules)`` calls the modules in order, each with the previous one's result.

    Their names are their indices, or the keys of a given OrderedDict.

    >>> import autograd_cy as ag
    >>> net = ag.nn.Sequential(ag.nn.Linear(4, 3), ag.nn.Linear(3, 2))
    >>> net(ag.ones(5, 4)).shape, len(net), net[1]
    (torch.Size([5, 2]), 2, Linear(in_features=3, out_features=2, bias=True))
    """

    def __init__(self, *args: Any):
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else None
        for name, module in named.items() if named is not None else zip(map(str, range(len(args))), args, strict=True):
            self.add_module(name, module)

    def forward(self, input: Any) -> Tensor:
        for module in self._modules.values():
            input = module(input)
        return input

    @_public
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    @_public
    def __add__(self, other: Any) -> "Sequential":
        _check_sequential(other)
        return Sequential(*self, *other)

    @_public
    def __iadd__(self, other: Any) -> Self:
        _check_sequential(other)
        return self.extend(list(other))

    @_public
    def __mul__(self, other: int) -> "Sequential":
        self._check_factor(other)
        return Sequential(*list(self) * other)

    def __rmul__(self, other: int) -> "Sequential":
        return self * other

    @_public
    def __imul__(self, other: int) -> Self:
        self._check_factor(other)
        return self.extend(list(self) * (other - 1))

    def _check_factor(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    @_public
    def insert(self, index: int, module: Any) -> Self:
        """``insert(index, module)`` inserts a module before the index; returns the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        index += size * (index < 0)
        self._make_room(index)
        self._modules[str(index)] = module
        return self

    def extend(self, sequential: Iterable[Any]) -> Self:
        """``extend(modules)`` adds modules at the end; returns the container."""
        for module in sequential:
            self.append(module)
        return self


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")


class ModuleList(_Numbered):
    """``ModuleList(modules)``: a list of modules, which belong to the module that holds it.

    >>> import autograd_cy as ag
    >>> layers = ag.nn.ModuleList(ag.nn.Linear(2, 2) for _ in range(3))
    >>> layers
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Any] | None = None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    @_public
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._name_at(index)]

    def __add__(self, other: Iterable[Any]) -> "ModuleList":
        return ModuleList(chain(self, other))

    def __iadd__(self, modules: Iterable[Any]) -> Self:
        return self.extend(modules)

    @_public
    def insert(self, index: int, module: Any) -> None:
        """``insert(index, module)`` inserts a module before the index."""
        self._make_room(index)
        self._modules[str(index)] = module

    @_public
    def extend(self, modules: Iterable[Any]) -> Self:
        """``extend(modules)`` adds modules at the end; returns the list."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        """As a Module's, but with equal consecutive modules on one line."""
        runs: list[list[Any]] = []  # first and last index, text
        for place, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = place
            else:
                runs.append([place, place, text])
        lines = [
            _addindent(f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}", 2) for a, b, text in runs
        ]
        inner = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({inner})"


class ModuleDict(Module):
    """``ModuleDict(modules)``: an ordered dict of modules, which belong to the module that holds it.

    >>> import autograd_cy as ag
    >>> choices = ag.nn.ModuleDict({"same": ag.nn.Identity(), "less": ag.nn.Linear(3, 2)})
    >>> choices["less"](ag.ones(1, 3)).shape
    torch.Size([1, 2])
    """

    def __init__(self, modules: Any = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """``clear()`` removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """``pop(key)`` removes a module, and returns it; KeyError if there is none."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """``keys()``: the names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """``items()``: the pairs of a name and a module."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """``values()``: the modules."""
        return self._modules.values()

    @_public
    def update(self, modules: Any) -> None:
        """``update(modules)`` sets the modules from a mapping, or from an iterable of pairs."""
        for key, module in _pairs("ModuleDict.update", "ModuleDict", modules):
            self[key] = module
