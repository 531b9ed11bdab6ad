"""Activations with noise: rrelu, gumbel_softmax."""

import warnings

import numpy as np

from autograd_cy._core.batching.levels cimport open_levels
from autograd_cy._core.graph.record cimport as_tensor, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.drawing cimport new_key
from autograd_cy._core.ops.pointwise.pointwise cimport binary, row_of, with_numbers
from autograd_cy._core.ops.pointwise.pointwise_node cimport Pointwise, with_constants

from autograd_cy._core.batching.batched import one_sample
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.drawing import drawing_levels
from autograd_cy._core.ops.registry import op

cdef Pointwise *OP_with_noise = row_of("rrelu_with_noise")
cdef Pointwise *OP_without_noise = row_of("rrelu_without_noise")


cdef Tensor numbers_like(Tensor x, str distribution, tuple parameters):
    """A number of NumPy's distribution for each element of x; within vmap as its `randomness` says."""
    cdef list apart = drawing_levels() if open_levels() else []
    source = np.random.Generator(np.random.PCG64(new_key()))
    sizes = tuple([level.size for level in reversed(apart)]) + shape_of(x)
    return one_sample(new_tensor(np.asarray(getattr(source, distribution)(*parameters, sizes), x.array.dtype)), apart)


@op(namespace="nn.functional", batch=COMPOSITE, inplace=True)
def rrelu(input, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False):
    """rrelu(input, lower=1/8, upper=1/3, training=False) -> Tensor: leaky_relu with a slope drawn for each element.

    It is uniform from lower to upper; without training their mean. RuntimeError where lower is above upper.
    Source: Xu et al., "Empirical evaluation of rectified activations in convolutional network" (2015).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.rrelu(ag.tensor([-2.0, 2.0]), 0.25, 0.75)
    tensor([-1.,  2.])
    """
    cdef Tensor x = as_tensor(input, "rrelu")
    cdef tuple constants = (float(lower), float(upper), bool(training))
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        if x.batched:
            return input.where(input > 0, input * ((lower + upper) / 2))
        return with_constants(with_numbers(OP_without_noise, x, ((lower + upper) / 2,), ["slope"]), constants)
    noise = numbers_like(x, "uniform", constants[:2]).where(input.detach() <= 0, 1)
    if (<Tensor> noise).batched:
        return input * noise
    return with_constants(<Tensor> binary(OP_with_noise, x, noise), constants)


@op(namespace="nn.functional", batch=COMPOSITE)
def gumbel_softmax(logits, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1):
    """gumbel_softmax(logits, tau=1, hard=False, dim=-1) -> Tensor: draws from a categorical distribution, with a gradient.

    softmax((logits + noise) / tau), where the noise has the Gumbel distribution. With `hard` the result is one-hot, and has
    the gradient of the soft one. Source: Jang, Gu, Poole, "Categorical reparameterization with Gumbel-softmax" (2016).

    >>> import autograd_cy as ag
    >>> y = ag.nn.functional.gumbel_softmax(ag.zeros(3), hard=True)
    >>> sorted(y.tolist())
    [0.0, 0.0, 1.0]
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = numbers_like(as_tensor(logits, "gumbel_softmax"), "gumbel", ())
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.detach().argmax(dim, keepdim=True)
    return (soft.detach() * 0).scatter(dim, chosen, 1.0) - soft.detach() + soft
