"""The default stream of random numbers, and what is drawn from a stream (facade)."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import wrap
from ._core.batching.batched import one_sample
from ._core.batching.levels import open_levels
from ._core.graph.tensor import Tensor
from ._core.ops.drawing import drawing_levels, drawn_array, drawn_integers, set_generator
from ._core.ops.out_argument import check_out
from ._generator import Generator

default_generator = Generator()
default_generator.seed()
set_generator(default_generator)


def drawn(
    draw: Callable[..., np.ndarray],
    shape: tuple[int, ...],
    function: str,
    generator: Any,
    dtype: np.dtype,
    requires_grad: bool,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor of what `draw` draws; within vmap as its `randomness` says."""
    if not open_levels():
        if out is not None:
            check_out(out, function)
        return wrap(draw(shape, function, generator, dtype), requires_grad, out, function)
    apart = drawing_levels()
    batch = tuple(level.size for level in reversed(apart))
    return one_sample(wrap(draw((*batch, *shape), function, generator, dtype), requires_grad), apart)


def permutations(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
    """Numbers from 0 on in random order along the last dimension, each row in an order of its own."""
    source = source_of(function, generator)
    if len(shape) == 1:
        return source.permutation(shape[0]).astype(dtype, copy=False)
    return source.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1).astype(dtype)


def source_of(function: str, generator: Any) -> "np.random.Generator":
    if generator is None:
        return default_generator.numpy
    if not isinstance(generator, Generator):
        found = type(generator).__name__
        raise TypeError(f"{function}(): argument 'generator' must be Generator, not {found}")
    return generator.numpy


def uniform_numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
    return drawn_array("uniform", shape, dtype, generator, function)


def normal_numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
    return drawn_array("normal", shape, dtype, generator, function)


def integers(
    low: int, high: int, shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype
) -> np.ndarray:
    """Integers from low to high - 1."""
    if high - low < 1 << 32 and low >= -1 << 63 and high <= 1 << 63:
        return drawn_integers(low, high - low, shape, dtype, generator, function)
    return np.asarray(source_of(function, generator).integers(low, high, shape)).astype(dtype)


def can_hold(dtype: np.dtype, value: int) -> bool:
    """Whether ``dtype`` has this integer, and all between it and zero."""
    low, high = _limits(dtype)
    return low <= value <= high


@functools.cache
def _limits(dtype: np.dtype) -> tuple[int, int]:
    if dtype.kind == "f":
        limit = 2 ** (int(np.finfo(dtype).nmant) + 1)
        return -limit, limit
    if dtype.kind == "b":
        return 0, 1
    return (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) if dtype.kind in "iu" else (1, 0)


def type_word(tensor: Tensor) -> str:
    """The name that PyTorch's messages have for a tensor's type: `Long`."""
    return str(tensor.type()).removeprefix("torch.").removesuffix("Tensor")
