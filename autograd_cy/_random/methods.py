"""The methods of Tensor that fill it with random numbers (facade). Overwritten tensors receive zero gradients."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays.dtypes import finfo_of, kind_of
from .._core.batching.batched import levels_of, open_levels
from .._core.batching.rules import refusal_of_write
from .._core.graph.tensor import Tensor, array_of
from .._core.ops.drawing import (
    check_fill,
    drawing_levels,
    drawn_array,
    drawn_into,
    fill_by_numpy,
    fill_integral,
    fill_normal,
    fill_uniform,
    numbers_by_numpy,
    real_argument,
)
from .._core.ops.overrides import extend_overridable
from .._core.runtime.entry import public
from .._creation import integer
from . import Generator
from .streams import (
    check_bound,
    check_draws,
    drawn,
    integers,
    narrowed,
    parameter_of,
    refuse_unbatched,
    source_of,
    type_word,
)

_LEFT_OUT: Any = object()


def _with_from(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method with the argument `from` by keyword, a name that Python refuses for a parameter."""

    @functools.wraps(function)
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if "from" in kwargs:
            name = function.__name__
            if args or "from_" in kwargs or (name == "random_" and "to" not in kwargs):
                got = [type(value).__name__ for value in args] + [f"{key}={type(x).__name__}" for key, x in kwargs.items()]
                raise TypeError(
                    f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but here it takes "
                    "(from, to, *, generator=None)"
                )
            kwargs["from_"] = kwargs.pop("from")
        return function(self, *args, **kwargs)

    return method


@public
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """bernoulli_(p=0.5) -> Tensor: write 1 with probability p, a number or a tensor of them, else 0."""
    if isinstance(p, Tensor):
        return _fill_with_truths(self, p, generator)
    p = real_argument(p, "bernoulli_", "p", 1)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return _fill(self, "bernoulli", p, 0.0, "BernoulliBackward2", "bernoulli_", generator)


@public
@_with_from
def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """uniform_(from=0, to=1) -> Tensor: write numbers drawn uniformly from [from, to), of complex ones from a square."""
    filled = fill_uniform(self, from_, to, generator)
    return filled if filled is not None else _fill_by_key(self, "uniform", from_, to, generator)


@public
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """normal_(mean=0, std=1) -> Tensor: write numbers drawn from the normal distribution."""
    filled = fill_normal(self, mean, std, generator)
    return filled if filled is not None else _fill_by_key(self, "normal", mean, std, generator)


@public
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """log_normal_(mean=1, std=2) -> Tensor: write numbers whose logarithms have the normal distribution."""
    mean, std = real_argument(mean, "log_normal_", "mean", 1), real_argument(std, "log_normal_", "std", 2)
    if not self.is_floating_point():
        raise NotImplementedError(f"\"log_normal_cpu\" not implemented for '{type_word(self)}'")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    check_draws(self, "log_normal_")
    return _fill(self, "log_normal", mean, std, "LogNormalBackward0", "log_normal_", generator)


@public
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """exponential_(lambd=1) -> Tensor: write numbers drawn from the exponential distribution with that rate."""
    lambd = real_argument(lambd, "exponential_", "lambd", 1)
    if not self.is_floating_point():
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {type_word(self)}"
        )
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    check_draws(self, "exponential_")
    return _fill(self, "exponential", lambd, 0.0, "ExponentialBackward0", "exponential_", generator)


@public
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """cauchy_(median=0, sigma=1) -> Tensor: write numbers drawn from the Cauchy distribution."""
    median, sigma = real_argument(median, "cauchy_", "median", 1), real_argument(sigma, "cauchy_", "sigma", 2)
    if not self.is_floating_point():
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {type_word(self)}"
        )
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    check_draws(self, "cauchy_")
    return _fill(self, "cauchy", median, sigma, "CauchyBackward0", "cauchy_", generator)


@public
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """geometric_(p) -> Tensor: write how many trials it took to succeed, each with probability p."""
    p = real_argument(p, "geometric_", "p", 1)
    if self.is_complex() or self.dtype.name == "bool":
        raise NotImplementedError(f"\"geometric_cpu\" not implemented for '{type_word(self)}'")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return _fill(self, "geometric", p, 0.0, "GeometricBackward0", "geometric_", generator)


@public
@_with_from
def random_(self: Tensor, from_: int | None = None, to: Any = _LEFT_OUT, *, generator: Generator | None = None) -> Tensor:
    """random_(from=0, to=None) -> Tensor: write integers from `from` to `to` - 1; random_(to) begins with 0.

    Without an end, all that the type can hold exactly.
    """
    if to is _LEFT_OUT:
        node, low, high = ("RandomBackward2", 0, None) if from_ is None else ("RandomBackward1", 0, from_)
    else:
        node, low, high = "RandomBackward0", 0 if from_ is None else from_, to
    filled = fill_integral(self, low, high, generator)
    if filled is not None:
        return filled
    if self.is_complex():
        raise NotImplementedError(f"\"random_kernel_cpu\" not implemented for '{type_word(self)}'")
    dtype = self.dtype.numpy_dtype
    if type(low) is not int or type(high) is not int:
        low = integer("random_", "from", low)
        high = _most(dtype) + 1 if high is None else integer("random_", "to", high)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    for name, value in (("from", low), ("to - 1", high - 1)):
        check_bound(dtype, name, value)
    low, high = narrowed(dtype, low, high)
    if not open_levels():
        check_fill(self, generator, "random_")
        return drawn_into(self, integers(low, high, tuple(self.shape), "random_", generator, dtype), node, "random_")
    return _fill_samples(self, functools.partial(integers, low, high), "random_", generator)


def _most(dtype: np.dtype) -> int:
    """The largest integer of a range that the type, and int64, which they are drawn in, hold without gaps."""
    if kind_of(dtype) == "f":
        return min(2 ** (finfo_of(dtype).nmant + 1), 2**63 - 1)
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


@public
def bernoulli(self: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """bernoulli(p=None) -> Tensor: 1 with the probability that each element says, or with that of p, else 0."""
    from . import sampling  # few need it

    return sampling.bernoulli(self, p, generator=generator)


@public
def multinomial(self: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Tensor:
    """multinomial(num_samples, replacement=False) -> Tensor: indices drawn as often as the elements, their weights, say."""
    from . import sampling  # few need it

    return sampling.multinomial(self, num_samples, replacement, generator=generator)


for _method in (
    bernoulli, bernoulli_, cauchy_, exponential_, geometric_, log_normal_, multinomial, normal_, random_, uniform_,
):  # fmt: skip
    extend_overridable(_method.__name__, _method)


# ------------------------------------------------------------------------------------------------------------


def _fill(self: Tensor, kind: str, a: float, b: float, node: str, name: str, generator: Generator | None) -> Tensor:
    """Write what `numbers_by_numpy` draws."""
    filled = fill_by_numpy(self, kind, a, b, generator, node, name)
    return filled if filled is not None else _fill_by_numpy(self, kind, a, b, name, generator)


def _fill_by_numpy(self: Tensor, kind: str, a: float, b: float, name: str, generator: Generator | None) -> Tensor:
    """The same within vmap."""

    def numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
        with np.errstate(over="ignore"):
            return numbers_by_numpy(kind, a, b, shape, source_of(function, generator)).astype(dtype)

    return _fill_samples(self, numbers, name, generator)


def _fill_by_key(self: Tensor, kind: str, a: float, b: float, generator: Generator | None) -> Tensor:
    """Write `drawn_array`'s numbers within vmap."""

    def numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
        return drawn_array(kind, shape, dtype, generator, function, a, b)

    return _fill_samples(self, numbers, f"{kind}_", generator)


def _fill_samples(self: Tensor, numbers: Callable[..., np.ndarray], name: str, generator: Generator | None) -> Tensor:
    """Write within vmap what `numbers` draws, as `randomness` says."""
    refuse_unbatched(self, drawing_levels(), name)
    return self.copy_(drawn(numbers, tuple(self.shape), name, generator, self.dtype.numpy_dtype, False))


def _chances(self: Tensor, p: Tensor) -> np.ndarray:
    """The probabilities that are tensors, within vmap of all samples that draw their own numbers."""
    chances = parameter_of(p.expand(self.shape), drawing_levels(), "bernoulli_")
    if not set(levels_of(p)) <= set(levels_of(self)):
        raise refusal_of_write("bernoulli_", (self, p))
    return chances


def _fill_with_truths(self: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    """Write 1 with the probability that each element of `p` is, else 0."""
    chances = _chances(self, p) if open_levels() else array_of(p)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={chances.tolist()}")
    if not open_levels():
        chances = array_of(p.detach().expand(self.shape))

    def numbers(shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype) -> np.ndarray:
        return np.asarray(source_of(function, generator).random(shape) < chances).astype(dtype)

    if open_levels():
        return _fill_samples(self, numbers, "bernoulli_", generator)
    check_fill(self, generator, "bernoulli_")
    made = numbers(tuple(self.shape), "bernoulli_", generator, self.dtype.numpy_dtype)
    return drawn_into(self, made, "BernoulliBackward1", "bernoulli_")
