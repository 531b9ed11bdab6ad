"""Sizes given as one number or as several, as PyTorch's layers take them (facade)."""

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

__all__: list[str] = []


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """The function that makes a tuple of what is iterable, and of anything else one that has it n times."""

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else tuple(repeat(value, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values: Iterable[Any], times: int) -> tuple[Any, ...]:
    """The values in reverse order, each so many times: F.pad() takes the last dimension first, both sides of it."""
    return tuple(value for value in reversed(tuple(values)) for _ in range(times))
