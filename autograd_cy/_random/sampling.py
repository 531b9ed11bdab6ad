"""Random tensors with tensors as parameters, or with the shape of another tensor (facade). Imported on first use.

Gradients of draws are zero, as in PyTorch. Under vmap its `randomness` says whether samples draw their own: NOTE
[Randomness].
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays.dtypes import kind_of
from .._core.batching.batched import is_batched, one_sample, open_levels
from .._core.graph.tensor import Tensor, array_of
from .._core.ops.drawing import drawn_array, drawn_with, new_integers, new_random, real_argument, truths_like
from .._core.ops.operations import OPS
from .._core.ops.out_argument import check_out, into
from .._core.ops.overrides import handle_torch_function, has_torch_function
from .._core.runtime.entry import public
from .._creation import array_argument, laid_out_like, resolve, sizes, wrap
from .._types import dtype_of_number
from ..random import randint
from . import Generator
from .streams import check_draws, drawing_levels, drawn, normal_numbers, parameter_of, refuse_out, source_of, type_word

_where = OPS["where"].function
_MOST_CATEGORIES = 1 << 24
_INT64 = dtype_of_number(int)


@public
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """``bernoulli(t)`` is 1 with the probability that each element of t says, else 0; with ``p``, with that of p.

    RuntimeError for probabilities that are not from 0 to 1.

    >>> import autograd_cy as ag
    >>> ag.bernoulli(ag.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    if p is None and out is None:
        made = truths_like(input, generator)
        if made is not None:
            return made
    if type(input) is not Tensor and has_torch_function((input,)):
        return handle_torch_function(bernoulli, (input,), input, p, generator=generator, out=out)
    if p is not None and open_levels():
        refuse_out(out)
        return _with_probability(input, p, generator)
    if p is not None:
        made = input.clone().bernoulli_(p, generator=generator)
        return made if out is None else into(out, made, "bernoulli")

    def draw(source: np.random.Generator, chances: np.ndarray) -> np.ndarray:
        if not ((chances >= 0) & (chances <= 1)).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        return laid_out_like(chances, lambda shape: np.asarray(source.random(shape))) < chances

    if isinstance(out, Tensor) and out.is_complex():
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_self_\" not implemented for '{type_word(out)}'")
    dtype = out.dtype.numpy_dtype if isinstance(out, Tensor) else None
    return _drawn("bernoulli", "BernoulliBackward0", draw, (input,), generator, out, dtype)


@public
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """``poisson(rates)`` draws from the Poisson distribution with the rate that each element says.

    RuntimeError for negative rates.

    >>> import autograd_cy as ag
    >>> ag.poisson(ag.tensor([0.0, 0.0]))
    tensor([0., 0.])
    """

    def draw(source: np.random.Generator, rates: np.ndarray) -> np.ndarray:
        if not (rates >= 0).all():
            raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
        return source.poisson(rates)

    return _drawn("poisson", "PoissonBackward0", draw, (input,), generator)


@public
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """``binomial(count, prob)`` draws how many of ``count`` trials succeed, each with the probability ``prob``.

    >>> import autograd_cy as ag
    >>> ag.binomial(ag.tensor([3.0, 5.0]), ag.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """

    def draw(source: np.random.Generator, counts: np.ndarray, chances: np.ndarray) -> np.ndarray:
        return source.binomial(counts.astype(np.int64), chances)

    return _drawn("binomial", "BinomialBackward0", draw, (count, prob), generator)


@public
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``normal(mean, std)`` draws from normal distributions: tensors of means or deviations, or numbers and a size.

    RuntimeError for negative deviations.

    >>> import autograd_cy as ag
    >>> ag.normal(ag.tensor([1.0, 2.0]), 0.0), ag.normal(0.0, 1.0, (2, 3)).shape
    (tensor([1., 2.]), torch.Size([2, 3]))
    """
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        return _normal(mean, std, size, generator, out, dtype, device, requires_grad)
    given = tuple(value for value in (mean, std) if isinstance(value, Tensor))
    if any(value.is_meta for value in given):
        return (mean + std).detach()
    if not isinstance(std, Tensor) and not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")

    def draw(source: np.random.Generator, *arrays: np.ndarray) -> np.ndarray:
        means = arrays[0] if isinstance(mean, Tensor) else mean
        stds = arrays[-1] if isinstance(std, Tensor) else std
        if isinstance(std, Tensor) and not (stds >= 0).all():
            raise RuntimeError("normal expects all elements of std >= 0.0")
        numbers = laid_out_like(arrays[0], lambda shape: normal_numbers(shape, "normal", generator, arrays[0].dtype))
        return means + stds * numbers

    node = f"NormalBackward{isinstance(mean, Tensor) + 2 * isinstance(std, Tensor)}"
    return _drawn("normal", node, draw, given, generator, out)


def _normal(
    mean: Any,
    std: Any,
    size: Any,
    generator: Generator | None,
    out: Tensor | None,
    dtype: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """Of the sizes, with numbers as parameters."""
    a, b = real_argument(mean, "normal", "mean", 1), real_argument(std, "normal", "std", 2)
    if not b >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {b:g}")
    if out is None and device is None and requires_grad is False:
        made = new_random("normal", a, b, (), size, dtype, generator, "normal")
        if made is not None:
            return made
    if open_levels():
        draw = functools.partial(_normal_numbers, a, b)
        shape, dtype = sizes("normal", (), size), resolve(dtype, device, requires_grad, out=out)
        return drawn(draw, shape, "normal", generator, dtype, requires_grad, out)
    if out is not None:
        check_out(out, "normal")
    made = wrap(np.empty(sizes("normal", (), size), resolve(dtype, device, requires_grad, out=out)))
    made.normal_(a, b, generator=generator)
    return into(out, made, "normal") if out is not None else made.requires_grad_(requires_grad)


@public
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """``multinomial(weights, n)`` draws n indices, each as often as its weight says; of a matrix, for each row.

    With ``replacement``, an index may be drawn again. RuntimeError for weights that are no probabilities.

    >>> import autograd_cy as ag
    >>> ag.multinomial(ag.tensor([0.0, 3.0, 0.0]), 2, replacement=True)
    tensor([1, 1])
    """
    weights = array_argument("multinomial", input) if not is_batched(input) else np.empty(tuple(input.shape))
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not (input.is_floating_point()):
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if weights.shape[-1] > _MOST_CATEGORIES:
        raise RuntimeError("number of categories cannot exceed 2^24")

    def draw(source: np.random.Generator, weights: np.ndarray) -> np.ndarray:
        rows = weights.reshape(-1, weights.shape[-1]).astype(np.float64)
        if not (np.isfinite(rows) & (rows >= 0)).all():
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if not (rows.sum(1) > 0).all():
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        chosen = _with_replacement(source, rows, num_samples) if replacement else _without(source, rows, num_samples)
        return chosen.reshape(*weights.shape[:-1], num_samples)

    return _drawn("multinomial", None, draw, (input,), generator, out, np.dtype(np.int64))


def _with_replacement(source: np.random.Generator, rows: np.ndarray, count: int) -> np.ndarray:
    sums = np.cumsum(rows, axis=1)
    points = source.random((len(rows), count)) * sums[:, -1:]
    if count == 1:  # all rows at once
        found = (sums <= points).sum(axis=1)
    else:
        found = np.array([np.searchsorted(row, at, side="right") for row, at in zip(sums, points, strict=True)], np.int64)
    last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)  # rounding must not lead beyond it
    return np.minimum(found.reshape(len(rows), count), last[:, None])


def _without(source: np.random.Generator, rows: np.ndarray, count: int) -> np.ndarray:
    """The smallest of exponential times with those rates come first: as if each were drawn from what the others left."""
    with np.errstate(divide="ignore"):
        times = source.standard_exponential(rows.shape) / rows
    if count < rows.shape[1] // 8:
        nearest = np.argpartition(times, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(times, nearest, 1), axis=1, kind="stable")
        return np.take_along_axis(nearest, order, 1)
    return np.ascontiguousarray(np.argsort(times, axis=1, kind="stable")[:, :count])


@public
def randint_like(
    input: Tensor,
    low: int = 0,
    high: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``randint_like(t, high)`` or ``randint_like(t, low, high)`` is ``randint`` with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.randint_like(ag.ones(2), 5, 6)
    tensor([5., 5.])
    """
    if type(input) is not Tensor and has_torch_function((input,)):
        options = {"generator": generator, "dtype": dtype, "device": device, "requires_grad": requires_grad}
        options["memory_format"] = memory_format
        return handle_torch_function(randint_like, (input,), input, low, high, **options)
    low, high = (0, low) if high is None else (low, high)
    if dtype is device is memory_format is None and requires_grad is False and input.dtype is _INT64 and input.is_contiguous():
        made = new_integers(low, high, input.shape, generator, "randint_like")
        if made is not None:
            return made
    wanted = resolve(dtype, device, requires_grad, default=input.dtype)
    if open_levels():
        return randint(low, high, tuple(input.shape), generator=generator, dtype=wanted, requires_grad=requires_grad)

    def make(shape: tuple[int, ...]) -> np.ndarray:
        return array_of(randint(low, high, shape, generator=generator, dtype=wanted))

    numbers = laid_out_like(array_argument("randint_like", input), make, memory_format=memory_format)
    return wrap(numbers, requires_grad)


# ------------------------------------------------------------------------------------------------------------


def _drawn(
    name: str,
    node: str | None,
    draw: Callable[..., np.ndarray],
    tensors: tuple[Tensor, ...],
    generator: Generator | None,
    out: Tensor | None = None,
    dtype: np.dtype | None = None,
) -> Tensor:
    """What `draw(source, *arrays)` draws, recorded with the tensors of these parameters; within vmap for all samples."""
    for x in tensors:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): argument must be Tensor, not {type(x).__name__}")
    own = tensors[0].dtype.numpy_dtype
    dtype = dtype or own
    if kind_of(own) not in "fc" and node is not None:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{type_word(tensors[0])}'")
    if name in ("binomial", "poisson"):
        check_draws(tensors[0], f"{name}_cpu")
    refuse_out(out)
    if out is not None:
        check_out(out, name)
    shape: tuple[int, ...] = tensors[0].shape
    if len(tensors) > 1 and tensors[1].shape != shape:
        shape = np.broadcast_shapes(*(tuple(x.shape) for x in tensors))
    levels = drawing_levels() if open_levels() else []
    samples = [_samples(x, shape, levels, name) for x in tensors]
    made = wrap(np.asarray(draw(source_of(name, generator), *samples)).astype(dtype, copy=False))
    if levels:
        made = one_sample(made, levels)
    if out is not None:
        return into(out, made, name)
    if node is None or not any(x.requires_grad for x in tensors):
        return made
    if levels:
        return _with_gradients_of_zero(made, tensors)
    return drawn_with(made, tensors, node)


def _samples(x: Tensor, shape: tuple[int, ...], levels: list[Any], name: str) -> np.ndarray:
    """The numbers of a parameter, expanded to the shape; of all samples at the levels of vmap."""
    if not levels and not is_batched(x):
        return array_of(x) if x.shape == shape else np.broadcast_to(array_of(x), shape)
    return parameter_of(x if x.shape == shape else x.expand(shape), levels, name)


def _with_probability(input: Tensor, p: float, generator: Generator | None) -> Tensor:
    """bernoulli(input, p) within vmap."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    made = _drawn("bernoulli", None, lambda source, x: source.random(x.shape) < p, (input,), generator)
    return _with_gradients_of_zero(made, (input,)) if input.requires_grad else made


def _with_gradients_of_zero(made: Tensor, tensors: tuple[Tensor, ...]) -> Tensor:
    """What was drawn within vmap, as a function of these tensors."""
    true = wrap(np.asarray(True))
    for x in tensors:
        made = _where(true, made, x)
    return made


def _normal_numbers(
    mean: float, std: float, shape: tuple[int, ...], function: str, generator: Generator | None, dtype: np.dtype
) -> np.ndarray:
    return drawn_array("normal", shape, dtype, generator, function, mean, std)
