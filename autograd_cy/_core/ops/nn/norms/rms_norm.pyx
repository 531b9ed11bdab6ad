"""rms_norm: scaling to a mean square of 1 over the last dimensions."""

from math import prod

from libc.math cimport sqrt

from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT32, code_of, dtype_of, is_half, type_word
from autograd_cy._core.batching.batched cimport values_of
from autograd_cy._core.graph.record cimport tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.reductions.sums cimport values_fit

from autograd_cy._core.arrays.dtypes import finfo_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.nn.padding import pad
from autograd_cy._core.ops.registry import op


cdef object scaled(object x, tuple sizes, double eps):
    """x / sqrt(mean(x ** 2) + eps). Uses norm() if squares, here or in derivatives, might leave the range of the type."""
    squares = x.pow(2).mean(tuple(range(-len(sizes), 0)), True) + eps
    if values_fit(values_of(<Tensor> squares).array):
        return x * squares.rsqrt()
    n = prod(sizes)
    lengths = pad(x.flatten(-len(sizes)), (0, 1), value=sqrt(n * eps)).norm(2, -1)
    return x / (lengths.reshape(squares.shape) / sqrt(n))


@op(batch=COMPOSITE)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """rms_norm(input, normalized_shape, weight=None, eps=None) -> Tensor: input / sqrt(mean(input ** 2) + eps) * weight.

    The mean is over the last dimensions. `normalized_shape` has their sizes, which are also the weight's; `eps` is the
    type's epsilon by default. float16 is computed in float32. RuntimeError if sizes don't fit.
    Source: Zhang, Sennrich, "Root mean square layer normalization" (2019).

    >>> import autograd_cy as ag
    >>> ag.rms_norm(ag.tensor([[3.0, 3.0], [1.0, 7.0]]), (2,))
    tensor([[1.0000, 1.0000],
            [0.2000, 1.4000]])
    """
    cdef Tensor given = tensor_argument(input, "rms_norm", "input", 1)
    cdef Tensor w = None if weight is None else tensor_argument(weight, "rms_norm", "weight", 3)
    cdef tuple sizes = sizes_argument(normalized_shape, "rms_norm")
    cdef int own = code_of(given.array)
    check_sizes(given, sizes, w, None)
    if own < FLOAT16:
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{type_word(own)}'")
    x = input.to(dtype_of(FLOAT32)) if is_half(own) else input
    y = scaled(x, sizes, float(finfo_of(given.array.dtype).eps) if eps is None else eps)
    y = y if weight is None else y * weight
    return y.to(input.dtype)
