"""The default stream of random numbers, and what is drawn from a stream (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import wrap
from ._core.batching.batched import one_sample
from ._core.batching.levels import open_levels
from ._core.graph.tensor import Tensor
from ._core.ops.drawing import drawing_levels, set_generator
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
        return wrap(draw(shape, function, generator, dtype), requires_grad, out, function)
    apart = drawing_levels()
    batch = tuple(level.size for level in reversed(apart))
    return one_sample(wrap(draw((*batch, *shape), function, generator, dtype), requires_grad), apart)


def permutations(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
    """Numbers from 0 on in random order along the last dimension, each row in an order of its own."""
    source = source_of(function, generator)
    if len(shape) == 1:
        return source.permutation(shape[0]).astype(dtype)
    return source.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1).astype(dtype)


def source_of(function: str, generator: Any) -> "np.random.Generator":
    if generator is None:
        return default_generator.numpy
    if not isinstance(generator, Generator):
        found = type(generator).__name__
        raise TypeError(f"{function}(): argument 'generator' must be Generator, not {found}")
    return generator.numpy


def uniform_numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
    source = source_of(function, generator)
    if dtype.kind == "c":
        parts = uniform_numbers((*shape, 2), function, generator, np.finfo(dtype).dtype)
        return parts.view(dtype).reshape(shape)
    if dtype.kind != "f":
        raise NotImplementedError(f"{function} is not implemented for {dtype}")
    if dtype == np.float16:  # a float32 just below 1 would be rounded to 1
        return np.asarray(source.integers(0, 2048, shape) / 2048).astype(dtype)
    return np.asarray(source.random(shape, dtype))


def normal_numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
    source = source_of(function, generator)
    if dtype.kind == "c":
        parts = normal_numbers((*shape, 2), function, generator, np.finfo(dtype).dtype)
        return (parts * parts.dtype.type(0.5**0.5)).view(dtype).reshape(shape)
    if dtype.kind != "f":
        raise NotImplementedError(f"{function} is not implemented for {dtype}")
    if dtype == np.float16:
        return normal_numbers(shape, function, generator, np.dtype(np.float32)).astype(dtype)
    return np.asarray(source.standard_normal(shape, dtype))


def can_hold(dtype: np.dtype, value: int) -> bool:
    """Whether ``dtype`` has this integer, and all between it and zero."""
    if dtype.kind == "f":
        return abs(value) <= 2 ** (np.finfo(dtype).nmant + 1)
    if dtype.kind == "b":
        return value in (0, 1)
    return dtype.kind in "iu" and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def type_word(tensor: Tensor) -> str:
    """The name that PyTorch's messages have for a tensor's type: `Long`."""
    return str(tensor.type()).removeprefix("torch.").removesuffix("Tensor")
