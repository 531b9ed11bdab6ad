"""The methods of Tensor that fill it with random numbers (facade). What they write over gets zeros as gradient."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import integer
from ._core.batching.levels import open_levels
from ._core.graph.tensor import Tensor, array_of
from ._core.ops.drawing import drawn_array, drawn_into, fill_with
from ._core.ops.overrides import extend_overridable
from ._core.runtime.entry import public
from ._generator import Generator
from ._streams import can_hold, drawn, integers, source_of, type_word


@public
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """bernoulli_(p=0.5) -> Tensor: write 1 with probability p, a number or a tensor of them, else 0."""
    of_tensor = isinstance(p, Tensor)
    chances = array_of(p) if of_tensor else np.float64(p)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p if not of_tensor else p.tolist()}")

    def draw(source: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return source.random(shape) < chances

    return _fill(self, draw, f"BernoulliBackward{2 - of_tensor}", "bernoulli_", generator)


_WITHIN_ALL = 32752.0  # half of float16's largest number
_REAL_TYPES = {16: ("Half", "c10::Half"), 32: ("Float", "float"), 64: ("Double", "double")}  # by their bits, as PyTorch says


def _check_range(dtype: Any, start: float, end: float) -> None:
    """RuntimeError unless the ends and their difference are numbers of the type, in order."""
    numbers = np.finfo(dtype.numpy_dtype)
    largest, (word, type_name) = float(numbers.max), _REAL_TYPES[numbers.bits]
    for name, value in (("from", start), ("to", end)):
        if not -largest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {type_name}")
    if not start <= end:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={start} > to={end}")
    if not end - start <= largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{word}>::max(), but found to={end} and from={start} which "
            "result in to-from to exceed the limit"
        )


@public
def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """uniform_(from=0, to=1) -> Tensor: write numbers drawn uniformly from [from, to), of complex ones from a square."""
    _check_inexact(self, "check_uniform_bounds")
    if not -_WITHIN_ALL <= from_ <= to <= _WITHIN_ALL:
        _check_range(self.dtype, from_, to)

    if not open_levels():
        return fill_with("uniform", self, from_, to, generator, "UniformBackward0")

    def draw(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
        return drawn_array("uniform", shape, dtype, generator, function, from_, to)

    return _write(self, draw, "UniformBackward0", "uniform_", generator)


@public
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """normal_(mean=0, std=1) -> Tensor: write numbers drawn from the normal distribution."""
    _check_inexact(self, "normal_kernel_cpu")
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")

    if not open_levels():
        return fill_with("normal", self, mean, std, generator, "NormalBackward0")

    def draw(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
        return drawn_array("normal", shape, dtype, generator, function, mean, std)

    return _write(self, draw, "NormalBackward0", "normal_", generator)


@public
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """log_normal_(mean=1, std=2) -> Tensor: write numbers whose logarithms have the normal distribution."""
    _check_real(self, "log_normal")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")

    def draw(source: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return source.lognormal(mean, std, shape)

    return _fill(self, draw, "LogNormalBackward0", "log_normal_", generator)


@public
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """exponential_(lambd=1) -> Tensor: write numbers drawn from the exponential distribution with that rate."""
    if not self.is_floating_point():
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {type_word(self)}"
        )
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")

    def draw(source: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return source.standard_exponential(shape) / lambd

    return _fill(self, draw, "ExponentialBackward0", "exponential_", generator)


@public
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """cauchy_(median=0, sigma=1) -> Tensor: write numbers drawn from the Cauchy distribution."""
    if not self.is_floating_point():
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {type_word(self)}"
        )
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")

    def draw(source: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return source.standard_cauchy(shape) * sigma + median

    return _fill(self, draw, "CauchyBackward0", "cauchy_", generator)


@public
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """geometric_(p) -> Tensor: write how many trials it took to succeed, each with probability p."""
    if self.dtype.is_complex or self.dtype.name == "bool":
        raise NotImplementedError(f"\"geometric\" not implemented for '{type_word(self)}'")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _fill(self, lambda source, shape: source.geometric(p, shape), "GeometricBackward0", "geometric_", generator)


@public
def random_(self: Tensor, from_: int | None = None, to: int | None = None, *, generator: Generator | None = None) -> Tensor:
    """random_(from=0, to=None) -> Tensor: write integers from `from` to `to` - 1; random_(to) begins with 0.

    Without arguments, all that the type can hold exactly, from 0.
    """
    _check_real(self, "random_")
    dtype = self.dtype.numpy_dtype
    node = f"RandomBackward{2 if from_ is None else 1 if to is None else 0}"
    low, high = (0, from_) if to is None else (from_ or 0, to)
    low = integer("random_", "from", low)
    high = _most(dtype) + 1 if high is None else integer("random_", "to", high)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    for name, value in (("from", low), ("to - 1", high - 1)):
        if not can_hold(dtype, value):
            raise RuntimeError(f"{name} is out of bounds for {self.dtype}")
    return _write(self, functools.partial(integers, low, high), node, "random_", generator)


def _most(dtype: np.dtype) -> int:
    """The largest integer of a range that the type holds without gaps."""
    if dtype.kind == "f":
        return int(2 ** (np.finfo(dtype).nmant + 1))
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


@public
def bernoulli(self: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """bernoulli(p=None) -> Tensor: 1 with the probability that each element says, or with that of p, else 0."""
    from . import _distributions  # few need it

    return _distributions.bernoulli(self, p, generator=generator)


@public
def multinomial(
    self: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """multinomial(num_samples, replacement=False) -> Tensor: indices drawn as often as the elements, their weights, say."""
    from . import _distributions  # few need it

    return _distributions.multinomial(self, num_samples, replacement, generator=generator)


for _method in (
    bernoulli, bernoulli_, cauchy_, exponential_, geometric_, log_normal_, multinomial, normal_, random_, uniform_,
):  # fmt: skip
    extend_overridable(_method.__name__, _method)


# ------------------------------------------------------------------------------------------------------------


def _fill(self: Tensor, draw: Callable[..., Any], node: str, name: str, generator: Generator | None) -> Tensor:
    """Write what `draw(source, shape)` draws."""

    def numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(draw(source_of(function, generator), shape)).astype(dtype)

    return _write(self, numbers, node, name, generator)


def _write(self: Tensor, numbers: Callable[..., np.ndarray], node: str, name: str, generator: Generator | None) -> Tensor:
    if open_levels():
        return self.copy_(drawn(numbers, tuple(self.shape), name, generator, self.dtype.numpy_dtype, False))
    made = numbers(tuple(self.shape), name, generator, self.dtype.numpy_dtype)
    return drawn_into(self, made, node, name)


def _check_inexact(self: Tensor, name: str) -> None:
    if not (self.is_floating_point() or self.is_complex()):
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_word(self)}'")


def _check_real(self: Tensor, name: str) -> None:
    if self.is_complex() or (name == "log_normal" and not self.is_floating_point()):
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_word(self)}'")
