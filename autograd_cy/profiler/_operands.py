"""Shapes, strides and dtypes of operands, and frames, as PyTorch's profiler writes them; lines of the user's code."""

import linecache
import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from .._core.inspection.raw_events import Array, Frame

_TYPE_NAMES = {
    "bool": "bool", "complex128": "c10::complex<double>", "complex64": "c10::complex<float>", "float16": "c10::Half",
    "float32": "float", "float64": "double", "int16": "short int", "int32": "int", "int64": "long int",
    "int8": "signed char", "uint8": "unsigned char",
}  # fmt: skip


Layouts = tuple[tuple[tuple[int, ...], tuple[int, ...], str, int], ...]


def layouts_of(operands: Sequence[Array]) -> Layouts:
    """The shapes, strides and dtypes of operands, as a key for calls that share them."""
    return tuple([(a.shape, a.strides, a.dtype, a.itemsize) for a in operands])


Made = TypeVar("Made")


class ByLayout(Generic[Made]):
    """ByLayout(make).of(operands) is make(operands), made once for all operands of the same layouts.

    The tuples must outlive it: a recording has the same tuple for many events, so lookups go by identity first.
    """

    def __init__(self, make: Callable[[tuple[Array, ...]], Made]):
        self._make = make
        self._by_identity: dict[int, Made] = {}
        self._by_layout: dict[Layouts, Made] = {}

    def of(self, operands: tuple[Array, ...]) -> Made:
        """The cached result for these operands."""
        found = self._by_identity.get(id(operands))
        if found is None:
            key = layouts_of(operands)
            if key not in self._by_layout:
                self._by_layout[key] = self._make(operands)
            found = self._by_identity[id(operands)] = self._by_layout[key]
        return found


def shapes_of(operands: Sequence[Array]) -> list[list[int]]:
    """The shapes of operands."""
    return [list(array.shape) for array in operands]


def strides_of(operands: Sequence[Array]) -> list[list[int]]:
    """Their strides in elements, as tensors have them."""
    return [[stride // array.itemsize for stride in array.strides] for array in operands]


def types_of(operands: Sequence[Array]) -> list[str]:
    """The names of their dtypes in C++."""
    return [_TYPE_NAMES.get(array.dtype, array.dtype) for array in operands]


def nbytes_of(array: Array) -> int:
    """The bytes of its elements."""
    return array.itemsize * math.prod(array.shape)


def frames_as_text(stack: Sequence[Frame]) -> list[str]:
    """Frames, innermost first: file.py(12): function."""
    return [f"{file}({line}): {function}" for file, line, function in stack]


def source_of(place: Any) -> str:
    """The text of a line, "" if its file isn't there."""
    return linecache.getline(place.file, place.line).strip()


def shown_line(place: Any) -> str:
    """step.py:12, or a placeholder if there is no line."""
    return f"{place.file.rpartition('/')[2]}:{place.line}" if place.line > 0 else "(no operation)"
