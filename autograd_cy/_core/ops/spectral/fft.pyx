"""Discrete Fourier transforms: NumPy's, which compute in the type of their input.

A transform is a symmetric matrix times a factor, and its gradient the same factor times the conjugate of that matrix: the
transform in the other direction, normalized alike.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, code_of, dtype_of, to_inexact
from autograd_cy._core.batching.batched cimport BatchedTensor, batched, level_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, int64_of, record_linear, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.shape import cat

cnp.import_array()

# By what a forward transform is divided: nothing, the square root of n, n; and what NumPy calls that, forward and backward.
NORMALIZATIONS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}
NUMPY_NAMES = (("forward", "ortho", "backward"), ("backward", "ortho", "forward"))


cdef class Transform(Node):
    """Its constants: the dimensions, the normalization, and whether it goes forward."""

    cdef object vjp(self, object g, int i):
        dims, normalization, forward = self.constants
        return transformed(g, dims, normalization, not forward)

    cdef object jvp(self, tuple tangents):
        dims, normalization, forward = self.constants
        return transformed(tangents[0], dims, normalization, forward)


@cython.final
cdef class FftC2CBackward0(Transform):
    cdef tuple constant_names(self):
        return ("dim", "normalization", "forward")


@cython.final
cdef class FftR2CBackward0(Transform):
    """Of real numbers: the gradient is the real part."""

    cdef tuple constant_names(self):
        return ("dim", "normalization", None)

    @property
    def _saved_onesided(self):
        return False

    cdef object vjp(self, object g, int i):
        return Transform.vjp(self, g, i).real


cdef Tensor transformed(Tensor x, tuple dims, int normalization, bint forward):
    """The transform along one dimension, recorded."""
    if x.batched:
        return batched(transformed((<BatchedTensor> x).value, (dims[0] + 1,), normalization, forward), level_of(x))
    cdef object function = np.fft.fft if forward else np.fft.ifft
    array = function(x.array, axis=dims[0], norm=NUMPY_NAMES[forward][normalization])
    is_complex = code_of(x.array) >= COMPLEX64
    return record_linear(FftC2CBackward0 if is_complex else FftR2CBackward0, (dims, normalization, forward), x, array)


@op(name="fft", methods=(), namespace="fft", batch=Along("dim"))
def fft(input, n: int | None = None, dim=-1, norm: str | None = None):
    """fft(input, n=None, dim=-1, norm=None) -> Tensor: the discrete Fourier transform along `dim`, of complex type.

    y[k] = sum over j of input[j] * exp(-2j * pi * j * k / n). With `n` the input is cut to that size, or filled up with
    zeros. norm='ortho' divides by sqrt(n), 'forward' by n.

    >>> import autograd_cy as ag
    >>> ag.fft.fft(ag.tensor([1.0, 0.0, -1.0, 0.0]))
    tensor([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])
    """
    cdef Tensor x = as_tensor(input, "fft")
    cdef int dtype_code = code_of(x.array), d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    if cnp.PyArray_NDIM(x.array) == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if dtype_code == FLOAT16:
        raise RuntimeError("Unsupported dtype Half")
    if norm not in NORMALIZATIONS:
        raise RuntimeError(f"Invalid normalization mode: \"{norm}\"")
    size = cnp.PyArray_DIM(x.array, d) if n is None else int64_of(n)
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    if dtype_code < FLOAT16:
        x = <Tensor> (<object> x).to(dtype_of(to_inexact(dtype_code)))
    return transformed(x if n is None else resized(x, d, size), (d,), NORMALIZATIONS[norm], True)


cdef Tensor resized(Tensor x, int dim, long long size):
    """The tensor with as many elements along `dim`: the first of its own, then zeros."""
    cdef long long own = cnp.PyArray_DIM(x.array, dim)
    if size <= own:
        return x if size == own else <Tensor> (<object> x)[(slice(None),) * dim + (slice(0, size),)]
    sizes = list((<object> x).shape)
    sizes[dim] = size - own
    return <Tensor> cat([x, (<object> x).new_zeros(sizes)], dim)
