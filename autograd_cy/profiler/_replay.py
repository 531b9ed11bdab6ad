"""Operations called again on arrays like those that were recorded, to see what they take by themselves (facade)."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.arrays.dtypes import all_dtypes
from .._core.ops.operations import OPS
from .._core.runtime.raw_events import Array, RawEvent
from .._data import from_numpy
from ..autograd.grad_mode import no_grad

DTYPES = {dtype.name: dtype for dtype in all_dtypes()}
LARGEST = 1 << 26  # bytes: larger operands are not made again
ROUNDS = 5
SECONDS = 0.0005  # of a round, at least


def median_ns(step: Callable[[], Any]) -> float:
    """The median time of a call, in ns."""
    step()
    repeats = 1
    while (seconds := _seconds(step, repeats)) < SECONDS:
        repeats = max(2 * repeats, min(int(repeats * SECONDS / max(seconds, 1e-9)), 1000 * repeats))
    return 1e9 * statistics.median(_seconds(step, repeats) / repeats for _ in range(ROUNDS))


def _seconds(step: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return time.perf_counter() - start


def nbytes_of(array: Array) -> int:
    """The bytes of its elements."""
    return array.itemsize * math.prod(array.shape)


def made_like(array: Array) -> Any | None:
    """A tensor of ones with that type and layout; None where that can't be, or would be too large."""
    if any(stride < 0 for stride in array.strides) or not all(array.shape):
        return None
    reach = array.itemsize + sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True))
    if reach > LARGEST:
        return None
    memory = np.ones(math.ceil(reach / array.itemsize), dtype=array.dtype)
    view = np.lib.stride_tricks.as_strided(memory, array.shape, array.strides)
    return from_numpy(view) if view.flags.writeable else None


def dense(array: Array) -> Array:
    """The same array in C order."""
    strides, step = [], array.itemsize
    for size in reversed(array.shape):
        strides.append(step)
        step *= size
    return array._replace(strides=tuple(reversed(strides)))


class Replay:
    """Times operations once for each name and each kind of operands."""

    def __init__(self) -> None:
        self._times: dict[Any, float | None] = {}

    def call_ns(self, name: str, operands: Sequence[Array]) -> float | None:
        """What a call takes on operands like these; None if it can't be made, or takes arguments that are not known."""
        operands = [array._replace(address=0) for array in operands]
        key = (name, tuple(operands))
        if key not in self._times:
            with no_grad():
                self._times[key] = _call_ns(name, operands)
        return self._times[key]

    def arithmetic_ns(self, event: RawEvent) -> float | None:
        """What a call takes more on its operands than on operands of one element."""
        if event.operands is None or event.result is None or not event.operands:
            return None
        whole = self.call_ns(event.name, event.operands)
        small = self.call_ns(event.name, [_one_element(array) for array in event.operands])
        return None if whole is None or small is None else max(whole - small, 0.0)

    def copy_ns(self, array: Array, dtype: str | None = None) -> float | None:
        """What it takes to copy an array into C order, or to another type."""
        array = array._replace(address=0)
        key = ("copy", array, dtype)
        if key not in self._times:
            tensor = made_like(array)
            with no_grad():
                if tensor is None:
                    self._times[key] = None
                elif dtype is None:
                    self._times[key] = median_ns(tensor.clone if dense(array) == array else tensor.contiguous)
                else:
                    self._times[key] = median_ns(lambda: tensor.to(DTYPES[dtype]))
        return self._times[key]


def _one_element(array: Array) -> Array:
    return array._replace(shape=(1,) * len(array.shape), strides=(array.itemsize,) * len(array.shape))


def _call_ns(name: str, operands: Sequence[Array]) -> float | None:
    function = OPS[name].function if name in OPS else None
    tensors = [made_like(array) for array in operands]
    if function is None or any(tensor is None for tensor in tensors):
        return None
    for args in (tensors, [*tensors, 2.0]):  # the numbers that it was called with are not known
        try:
            function(*args)
        except Exception:  # it takes other arguments
            continue
        return median_ns(lambda args=args: function(*args))
    return None
