"""rrelu: an activation with noise."""

import numpy as np

from autograd_cy._core.batching.batched cimport open_levels
from autograd_cy._core.graph.record cimport as_tensor, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.drawing cimport new_key
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise, with_constants
from autograd_cy._core.ops.pointwise.pointwise cimport binary, row_of, with_numbers

from autograd_cy._core.batching.batched import one_sample
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.drawing import drawing_levels
from autograd_cy._core.ops.registry import op

cdef Pointwise *OP_with_noise = row_of("rrelu_with_noise")
cdef Pointwise *OP_without_noise = row_of("rrelu_without_noise")


cdef Tensor slopes_like(Tensor x, double lower, double upper):
    """A random slope for each element of x; within vmap according to its `randomness`."""
    cdef list apart = drawing_levels() if open_levels() else []
    source = np.random.Generator(np.random.PCG64(new_key()))
    sizes = tuple([level.size for level in reversed(apart)]) + shape_of(x)
    return one_sample(new_tensor(np.asarray(source.uniform(lower, upper, sizes), x.array.dtype)), apart)


@op(namespace="nn.functional", batch=COMPOSITE, inplace=True)
def rrelu(input, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False):
    """rrelu(input, lower=1/8, upper=1/3, training=False) -> Tensor: leaky_relu with a slope drawn for each element.

    The slope is uniform from lower to upper, or their mean without training. RuntimeError if lower is above upper.
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
    noise = slopes_like(x, lower, upper).where(input.detach() <= 0, 1)
    if (<Tensor> noise).batched:
        return input * noise
    return with_constants(<Tensor> binary(OP_with_noise, x, noise), constants)
