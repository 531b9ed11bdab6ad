"""The default stream of random numbers, and draws from a stream (facade).

NOTE [Randomness]
The meaning of vmap's `randomness` for an operation that draws, at each level separately:
  1. "error": it is refused (`drawing_levels`).
  2. "different": each sample draws its own numbers, also where no tensor is batched. In place, the tensor must be batched.
  3. "same": the numbers are the same for all samples. Parameters of a distribution that are batched are refused.
  4. out= is refused.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.arrays.buffers import c_name
from .._core.arrays.dtypes import finfo_of, kind_of
from .._core.batching.batched import all_samples, is_batched, levels_of, one_sample, open_levels
from .._core.graph.tensor import Tensor, array_of
from .._core.ops.drawing import drawing_levels, drawn_array, drawn_integers, set_generator
from .._core.ops.out_argument import check_out
from .._core.runtime.once import warn_user
from .._creation import wrap
from . import Generator

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
    refuse_out(out)
    apart = drawing_levels()
    batch = tuple(level.size for level in reversed(apart))
    return one_sample(wrap(draw((*batch, *shape), function, generator, dtype), requires_grad), apart)


def refuse_out(out: Any) -> None:
    """RuntimeError for out= within vmap."""
    if out is not None and open_levels():
        raise RuntimeError(
            "vmap: We do not support calling out variants of random operations inside of vmap. Please use non-out variants as "
            "a workaround"
        )


def parameter_of(x: Tensor, apart: list[Any], function: str) -> np.ndarray:
    """The samples of a distribution's parameter at the levels where each draws its own; RuntimeError if others differ."""
    samples = all_samples(x.detach(), apart)
    if is_batched(samples):
        raise RuntimeError(
            "Vmap does not currently support same randomness with a batched tensor input. "
            f"({function}(): randomness='different' draws for each sample)"
        )
    return array_of(samples)


def refuse_unbatched(x: Tensor, apart: list[Any], function: str) -> None:
    """RuntimeError for a tensor that is to be filled with other numbers for each sample, and isn't batched."""
    if not all(level in levels_of(x) for level in apart):
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. "
            f"({function}(): write to a tensor that is batched, as rand_like() is)"
        )


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
    if kind_of(dtype) == "f":
        limit = 2 ** (int(finfo_of(dtype).nmant) + 1)
        return -limit, limit
    if dtype.kind == "b":
        return 0, 1
    return (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) if dtype.kind in "iu" else (1, 0)


def check_bound(dtype: np.dtype, name: str, value: int) -> None:
    """Refuse an end of a range of integers that ``dtype`` can't hold; warn of one that it holds with gaps between."""
    if can_hold(dtype, value):
        return
    word = c_name(dtypes.convert(dtype)) if dtype.kind != "b" else "bool"
    if kind_of(dtype) != "f" or not -_largest(dtype) <= value <= _largest(dtype):
        raise RuntimeError(f"{name} is out of bounds for {word}")
    digits = int(finfo_of(dtype).nmant) + 1
    warn_user(
        f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {word} can support discrete "
        "uniform distribution only within this range. This warning will become an error in version 1.7 release, please fix "
        "the code in advance"
    )


def narrowed(dtype: np.dtype, low: int, high: int) -> tuple[int, int]:
    """The range from low to high - 1, less the integers that a float type rounds to ones outside."""
    if kind_of(dtype) != "f" or (can_hold(dtype, low) and can_hold(dtype, high - 1)):
        return low, high
    first, last = (int(np.array(value).astype(dtype)) for value in (low + 1, high - 1))
    gap_at = int(finfo_of(dtype).nmant)
    low = low if first >= low else first + (1 << abs(low + 1).bit_length() - 1 >> gap_at)
    high = high if last < high else last - (1 << abs(high - 1).bit_length() - 1 >> gap_at)
    if low >= high:
        raise RuntimeError(
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
            f"from={low} >= to={high}"
        )
    return low, high


@functools.cache
def _largest(dtype: np.dtype) -> int:
    return int(float(finfo_of(dtype).max))


def type_word(tensor: Tensor) -> str:
    """The name that PyTorch's messages have for a tensor's type: `Long`."""
    return str(tensor.type()).removeprefix("torch.").removesuffix("Tensor")


def check_draws(tensor: Tensor, name: str) -> None:
    """NotImplementedError for longdouble: draws have float64's precision."""
    if tensor.dtype.name == "longdouble":
        raise NotImplementedError(f"\"{name}\" not implemented for 'LongDouble'")
