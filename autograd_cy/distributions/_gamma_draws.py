"""Draws from gamma distributions that are differentiable functions of the concentration (facade)."""

import math
from typing import Any

import numpy as np

from .._core.arrays.dtypes import finfo_of
from .._core.batching.batched import all_samples, levels_of, one_sample
from .._core.graph.tensor import Tensor, array_of
from .._core.ops.drawing import drawing_levels
from .._creation.data import from_numpy
from .._random import Generator
from .._random.streams import check_draws, source_of, type_word
from ..autograd.function import Function, once_differentiable

_NODES = np.linspace(-5.0, 5.0, 101)  # of the substitution below; the rest of the line adds less than 1e-14


class StandardGamma(Function):
    """``StandardGamma.apply(concentration, generator)`` draws once for each element, at rate 1.

    The gradient is by implicit reparameterization, dx/da = -(dF/da) / p: Figurnov, Mohamed and Mnih, "Implicit
    reparameterization gradients", 2018, section 3.
    """

    @staticmethod
    def forward(concentration: Tensor, generator: Generator | None) -> Tensor:
        a = array_of(concentration.detach())
        drawn = source_of("standard_gamma", generator).standard_gamma(a.astype(np.float64))
        drawn = np.maximum(drawn, finfo_of(a.dtype).tiny)
        return from_numpy(np.asarray(drawn.astype(a.dtype)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(inputs[0], output)
        ctx.save_for_forward(inputs[0], output)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g * _slopes(*ctx.saved_tensors).to(g.dtype), None

    @staticmethod
    def jvp(ctx: Any, t: Tensor, _: None) -> Tensor:
        return t * _slopes(*ctx.saved_tensors).to(t.dtype)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], concentration: Tensor, generator: Generator | None
    ) -> tuple[Tensor, int]:
        if info.randomness != "different":
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. "
                "(randomness='different' draws for each sample)"
            )
        return StandardGamma.apply(concentration, generator), in_dims[0]


def _slopes(concentration: Tensor, draws: Tensor) -> Tensor:
    """The derivatives of the draws, within vmap of all samples."""
    levels = levels_of(draws)
    a, x = (array_of(all_samples(t.detach(), levels)).astype(np.float64) for t in (concentration, draws))
    psi = array_of(from_numpy(a).digamma())
    return one_sample(from_numpy(np.asarray(gradient_of_draws(a, x, psi))), levels)


def gradient_of_draws(a: np.ndarray, x: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """dx/da at a fixed probability F(x; a), where psi is digamma(a); float64, to some 1e-10.

    dF/da is the integral of p(t) (log t - psi) up to x, and as p is normalized, minus that from x on. With t = x e^(-u)
    or x e^u it runs over u > 0 and falls off at once on the side away from the mode. There u = scale * exp(s - exp(-s))
    makes the rule of equal steps exact to rounding: Takahasi and Mori, "Double exponential formulas", 1974.
    """
    sign = np.where(x <= a, -1.0, 1.0)
    scale = 1 / (np.abs(a - x) + np.sqrt(x) + np.minimum(a, 1.0))
    log_x, total = np.log(x), np.zeros(np.broadcast(a, x).shape)
    for s in _NODES:
        with np.errstate(over="ignore"):
            u = scale * math.exp(s - math.exp(-s))
            weight = np.exp(sign * a * u - x * np.expm1(sign * u))
        total += np.where(weight > 0, weight * (log_x + sign * u - psi) * u, 0.0) * (1 + math.exp(-s))
    return sign * x * total * (_NODES[1] - _NODES[0])


def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """``_standard_gamma(concentration)`` draws at rate 1, all positive.

    NotImplementedError unless the dtype is a real floating-point one.
    """
    if not input.is_floating_point():
        raise NotImplementedError(f"\"gamma_cpu\" not implemented for '{type_word(input)}'")
    check_draws(input, "gamma_cpu")
    levels = drawing_levels()
    if levels:  # samples that share a concentration draw their own, too
        zeros = np.zeros([level.size for level in reversed(levels)], input.dtype.numpy_dtype)
        input = input + one_sample(from_numpy(zeros), levels)
    return StandardGamma.apply(input, generator)


def _standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """``_standard_gamma_grad(concentration, draws)`` is the derivative of each draw by its concentration."""
    return _slopes(input, output).to(output.dtype)


def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """``_sample_dirichlet(concentration)`` draws from the simplex of the last dimension: gamma draws over their sum.

    No draw is rounded to 0 or 1, where the logarithm of the density is infinite.
    """
    check_draws(input, "dirichlet")
    draws = _standard_gamma(input.double(), generator)
    limits = finfo_of(input.dtype.numpy_dtype)
    inside = (draws / draws.sum(-1, keepdim=True)).clamp(limits.tiny, 1 - limits.eps / 2)
    return inside.to(input.dtype)
