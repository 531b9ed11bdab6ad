"""Parameters by index or by name (facade)."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..parameter import Parameter
from .module import Module


class _Parameters(Module):
    """The common part: tensors become Parameters, and repr()."""

    @staticmethod
    def _wrapped(value: Any) -> Any:
        return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value

    def _lines(self, items: Iterable[tuple[Any, Any]], type_of: Any) -> str:
        lines = []
        for name, value in items:
            if isinstance(value, Tensor):
                kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
                size = "x".join(map(str, value.shape))
                lines.append(f"  ({name}): {kind} containing: [{type_of(value)} of size {size}]")
            else:
                lines.append(f"  ({name}): Object of type: {type(value).__name__}")
        return "\n".join(lines)

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{type(self).__name__} should not be called.")


class ParameterList(_Parameters):
    """``ParameterList(values)``: a list of Parameters, which belong to the module that holds it.

    Tensors become Parameters; other values are kept as they are.

    >>> import autograd_cy as ag
    >>> ag.nn.ParameterList([ag.ones(2, 3), ag.nn.Parameter(ag.zeros(1))])
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2x3]
        (1): Parameter containing: [torch.float32 of size 1]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name_at(self, index: Any) -> str:
        index, size = operator.index(index), len(self)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return str(index % size)

    @public
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(len(self)))])
        return getattr(self, self._name_at(index))

    @public
    def __setitem__(self, index: int, param: Any) -> None:
        setattr(self, self._name_at(index), self._wrapped(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters: Iterable[Any]) -> Any:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Any:
        """``append(value)`` adds a value at the end; returns the list."""
        self._size += 1
        self[-1] = value
        return self

    @public
    def extend(self, values: Any) -> Any:
        """``extend(values)`` adds values at the end; returns the list. TypeError for a single tensor."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return self._lines(enumerate(self), lambda tensor: tensor.dtype)


class ParameterDict(_Parameters):
    """``ParameterDict(parameters)``: a dict of Parameters, which belong to the module that holds it.

    Tensors become Parameters; other values are kept as they are. Names keep the order of insertion; names from a mapping
    other than an OrderedDict are sorted.

    >>> import autograd_cy as ag
    >>> ag.nn.ParameterDict({"left": ag.ones(2), "right": ag.ones(3)})
    ParameterDict(
        (left): Parameter containing: [torch.FloatTensor of size 2]
        (right): Parameter containing: [torch.FloatTensor of size 3]
    )
    """

    def __init__(self, parameters: Any = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    @public
    def __getitem__(self, key: str) -> Any:
        return getattr(self, _checked(key))

    @public
    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _checked(key), self._wrapped(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> "ParameterDict":
        """``copy()``: another dict of the same Parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """``setdefault(key, default)``: the value under a name, which is set to the default if missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """``clear()`` removes all."""
        for key in list(self._keys):
            del self[key]

    @public
    def pop(self, key: str) -> Any:
        """``pop(key)`` removes the value under a name, and returns it."""
        value = self[key]
        del self[key]
        return value

    @public
    def popitem(self) -> tuple[str, Any]:
        """``popitem()`` removes the last pair, and returns it; KeyError if there is none."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """``get(key, default=None)``: the value under a name, else the default."""
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        """``fromkeys(keys, default=None)``: a new dict with these names, each with the default."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> Any:
        """``keys()``: the names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """``items()``: the pairs of a name and a value."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """``values()``: the values."""
        return (self[key] for key in self._keys)

    @public
    def update(self, parameters: Any) -> None:
        """``update(parameters)`` sets the values from a mapping, or from an iterable of pairs."""
        found = pairs("ParametersDict.update", "ParameterDict", parameters)
        is_sorted = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        for key, value in sorted(found) if is_sorted else found:
            self[key] = value

    def extra_repr(self) -> str:
        from ..._functional.queries import typename  # only needed here

        return self._lines(self.items(), typename)

    def __or__(self, other: Any) -> "ParameterDict":
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other: Any) -> "ParameterDict":
        merged = other.copy()
        merged.update(self)
        return merged

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self


def _checked(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}')."
        )
    return key


def pairs(function: str, kind: str, given: Any) -> Iterable[tuple[Any, Any]]:
    """The pairs in a mapping, or in an iterable of them."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{function} should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if hasattr(given, "items"):
        return given.items()
    found = list(given)
    for place, pair in enumerate(found):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{kind} update sequence element #{place} should be Iterable; is {type(pair).__name__}")
        if len(pair) != 2:  # type: ignore[arg-type]
            raise ValueError(f"{kind} update sequence element #{place} has length {len(pair)}; 2 is required")  # type: ignore[arg-type]
    return found
