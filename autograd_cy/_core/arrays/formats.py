"""Memory formats: the order of a tensor's dimensions in memory."""

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .buffers import suggests_channels_last, with_channels_last


class memory_format:
    """The type of `contiguous_format`, `preserve_format`, `channels_last` and `channels_last_3d`.

    >>> import autograd_cy as ag
    >>> ag.ones(1, 2, 3, 4).contiguous(memory_format=ag.channels_last).stride()
    (24, 1, 8, 2)
    """

    __slots__ = ("_axes", "name")

    def __init__(self, name: str, axes: tuple[int, ...] | None) -> None:
        self.name, self._axes = name, axes

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def order(self, ndim: int) -> tuple[int, ...]:
        """The dimensions from the outermost in memory to the innermost; RuntimeError for another number of them."""
        axes = self._axes or tuple(range(ndim))
        if len(axes) != ndim:
            raise RuntimeError(f"required rank {len(axes)} tensor to use {self.name} format")
        return axes


contiguous_format = memory_format("contiguous_format", None)
preserve_format = memory_format("preserve_format", None)
channels_last = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d = memory_format("channels_last_3d", (0, 2, 3, 4, 1))


def _named(name: str) -> Any:
    return globals()[name]


def suggested(array: Any) -> memory_format:
    """The format that an array's strides suggest."""
    if not suggests_channels_last(array):
        return contiguous_format
    return channels_last if array.ndim == 4 else channels_last_3d


def checked(value: Any, function: str) -> memory_format | None:
    """The format that an argument asks for; None to keep the tensor's."""
    if value is None or value is preserve_format:
        return None
    if not isinstance(value, memory_format):
        raise TypeError(f"{function}(): argument 'memory_format' must be torch.memory_format, not {type(value).__name__}")
    return value


def made_in(wanted: memory_format, make: Callable[..., Any], shape: tuple[int, ...], *options: Any) -> Any:
    """make(shape, *options), an array with the memory order of the format."""
    if wanted is contiguous_format:
        return make(shape, *options)
    order = wanted.order(len(shape))
    if not all(shape):
        return empty_in(_strides_in(order, shape), 1, make(shape, *options))
    return make(tuple(shape[axis] for axis in order), *options).transpose(np.argsort(order))


def strides_of(array: Any) -> tuple[int, ...]:
    """The strides of an array, in elements."""
    if array.size or any(array.strides):
        return tuple(step // array.itemsize for step in array.strides)
    shape = array.shape  # an array without elements, for which NumPy has chosen strides of 0
    return tuple(math.prod(size or 1 for size in shape[axis + 1 :]) for axis in range(array.ndim))


def empty_in(strides: tuple[int, ...], unit: int, array: Any) -> Any:
    """An array without elements, which NumPy gives strides of 0, with these strides, in units of so many bytes."""
    size = array.itemsize
    return np.ndarray(array.shape, array.dtype, array, 0, tuple(stride // unit * size for stride in strides))


def _strides_in(order: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """PyTorch's strides of dimensions in that order in memory, of which one may have size 0."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def is_dense_in(wanted: memory_format, array: Any) -> bool:
    """Whether an array is dense and has the memory order of the format."""
    if len(wanted._axes or array.shape) != array.ndim:
        return False
    if not array.size and wanted is not contiguous_format:
        strides = _strides_in(wanted.order(array.ndim), array.shape)
        return all(n == 1 or a == b for n, a, b in zip(array.shape, strides_of(array), strides, strict=True))
    return array.transpose(wanted.order(array.ndim)).flags.c_contiguous


def copied_in(wanted: memory_format, array: Any) -> Any:
    """A copy of an array in that format."""
    if wanted is not contiguous_format and wanted.order(array.ndim) and array.size:
        return with_channels_last(array)
    made = made_in(wanted, np.empty, array.shape, array.dtype)
    made[...] = array
    return made
