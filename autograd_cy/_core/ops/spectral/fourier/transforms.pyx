"""Shared by discrete Fourier transforms: NumPy's, which compute in the type of their input, and their gradients.

A transform is a symmetric matrix times a factor. Its gradient is the same factor times the conjugate of the matrix: the
transform in the other direction with the same normalization.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX64, FLOAT16, check_has_kernel, code_of, dtype_of, is_half, to_complex, to_inexact, type_word)
from autograd_cy._core.batching.batched cimport BatchedTensor, batched, level_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_linear, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.ops.shapes.joining import cat


# The divisor of a forward transform: 1, the square root of n, n; and NumPy's names for it, forward and backward.
NORMALIZATIONS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}
NUMPY_NAMES = (("forward", "ortho", "backward"), ("backward", "ortho", "forward"))


cdef class Transform(Node):
    """Constants: the dimensions, the normalization, and whether the transform is forward."""

    cdef object vjp(self, object g, int i):
        dims, normalization, forward = self.constants[:3]
        return transformed(g, dims, normalization, not forward)

    cdef object jvp(self, tuple tangents):
        dims, normalization, forward = self.constants[:3]
        return transformed(tangents[0], dims, normalization, forward)


@cython.final
cdef class FftC2CBackward0(Transform):
    cdef tuple constant_names(self):
        return ("dim", "normalization", "forward")


@cython.final
cdef class FftR2CBackward0(Transform):
    """From real numbers: the gradient is the real part. Fourth constant: whether only half of the frequencies is kept."""

    cdef tuple constant_names(self):
        return ("dim", "normalization", None, "onesided")

    cdef object vjp(self, object g, int i):
        dims, normalization, forward, onesided, sizes = self.constants
        if onesided:                    # half of the work; frequencies that the inverse counts twice are halved
            size = sizes[dims[-1]]
            return real_of_half(g * inner_weights(<Tensor> g, dims[-1], 0.5, size), dims, normalization, size)
        return transformed(g, dims, normalization, not forward).real

    cdef object jvp(self, tuple tangents):
        dims, normalization, forward, onesided, _sizes = self.constants
        if onesided:
            return half_of_real(tangents[0], dims, normalization)
        return transformed(tangents[0], dims, normalization, forward)


@cython.final
cdef class FftC2RBackward0(Node):
    """From half of the frequencies. Those with an omitted conjugate count twice."""

    cdef tuple constant_names(self):
        return ("dim", "normalization", None)

    cdef object vjp(self, object g, int i):
        dims, normalization, size = self.constants
        g = half_of_real(g, dims, normalization)
        return g * inner_weights(<Tensor> g, dims[-1], 2, size)

    cdef object jvp(self, tuple tangents):
        dims, normalization, size = self.constants
        return real_of_half(tangents[0], dims, normalization, size)


cdef Tensor inner_weights(Tensor g, int dim, double weight, long long size):
    """Weights that broadcast to half of the frequencies of `size` numbers: `weight` for those with a conjugate, else 1."""
    cdef tuple sizes = shape_of(g)
    weights = np.full(sizes[dim], weight, g.array.real.dtype)
    weights[0] = 1
    if size % 2 == 0:
        weights[-1] = 1
    return new_tensor(weights.reshape((-1,) + (1,) * (len(sizes) - 1 - dim)))


# the three kinds of transforms, recorded

cdef object shifted(tuple dims):
    """The dimensions after the batch dimension."""
    return tuple([d + 1 for d in dims])


cdef Tensor transformed(Tensor x, tuple dims, int normalization, bint forward):
    """Complex to complex, or all frequencies of real numbers, along dimensions."""
    if x.batched:
        return batched(transformed((<BatchedTensor> x).value, shifted(dims), normalization, forward), level_of(x))
    cdef object array = x.array, function = np.fft.fft if forward else np.fft.ifft
    for d in dims:
        array = function(array, axis=d, norm=NUMPY_NAMES[forward][normalization])
    if code_of(x.array) >= COMPLEX64:
        if not dims:
            array = array.copy()
        return record_linear(FftC2CBackward0, (dims, normalization, forward), x, array)
    return record_linear(FftR2CBackward0, (dims, normalization, forward, False, shape_of(x)), x, array)


cdef Tensor half_of_real(Tensor x, tuple dims, int normalization):
    """Half of the frequencies of real numbers, halved along the last of the dimensions; the others are conjugates."""
    if x.batched:
        return batched(half_of_real((<BatchedTensor> x).value, shifted(dims), normalization), level_of(x))
    cdef object name = NUMPY_NAMES[True][normalization], array = np.fft.rfft(x.array, axis=dims[-1], norm=name)
    for d in dims[:-1]:
        array = np.fft.fft(array, axis=d, norm=name)
    return record_linear(FftR2CBackward0, (dims, normalization, True, True, shape_of(x)), x, array)


cdef Tensor real_of_half(Tensor x, tuple dims, int normalization, long long size):
    """The real numbers from half of their frequencies; there are `size` of them along the last dimension."""
    if x.batched:
        return batched(real_of_half((<BatchedTensor> x).value, shifted(dims), normalization, size), level_of(x))
    cdef object name = NUMPY_NAMES[False][normalization], array = x.array
    for d in dims[:-1]:
        array = np.fft.ifft(array, axis=d, norm=name)
    return record_linear(FftC2RBackward0, (dims, normalization, size), x, np.fft.irfft(array, size, dims[-1], name))


# arguments

cdef Tensor given(object input, str name):
    """The input, converted to a type that has a transform."""
    cdef Tensor x = as_tensor(input, name)
    cdef int dtype_code = code_of(x.array)
    check_has_kernel(dtype_code, name)
    if is_half(dtype_code):
        raise RuntimeError("Unsupported dtype Half")
    return <Tensor> (<object> x).to(dtype_of(to_inexact(dtype_code))) if dtype_code < FLOAT16 else x


cdef Tensor real_given(object input, str name):
    if isinstance(input, Tensor) and code_of((<Tensor> input).array) >= COMPLEX64:
        raise RuntimeError(f"{name} expects a real input tensor, but got {type_word(code_of((<Tensor> input).array))}")
    return given(input, name)


cdef Tensor complex_given(object input, str name):
    cdef Tensor x = given(input, name)
    return x if code_of(x.array) >= COMPLEX64 else <Tensor> (<object> x).to(dtype_of(to_complex(code_of(x.array))))


cdef int code_of_norm(object norm, bint forward) except -1:
    """The code of the normalization in that direction."""
    if norm not in NORMALIZATIONS:
        raise RuntimeError(f"Invalid normalization mode: \"{norm}\"")
    return NORMALIZATIONS[norm] if forward else 2 - <int> NORMALIZATIONS[norm]


cdef int one_dim(Tensor x, object dim) except -1:
    if cnp.PyArray_NDIM(x.array) == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, cnp.PyArray_NDIM(x.array))


cdef long long checked(long long size) except -1:
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return size


cdef tuple dims_and_sizes(Tensor x, object s, object dim):
    """The dimensions to transform, and the sizes to cut or pad them to; -1 keeps a dimension's size."""
    cdef tuple own = shape_of(x)
    cdef int ndim = len(own)
    s = (s,) if isinstance(s, int) else None if s is None else tuple(s)
    dim = (dim,) if isinstance(dim, int) else None if dim is None else tuple(dim)
    if dim is not None and s is not None and len(dim) != len(s):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if dim is not None:
        dims = tuple([wrap_dim(d, ndim) for d in dim])
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    elif s is not None:
        if len(s) > ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        dims = tuple(range(ndim - len(s), ndim))
    else:
        dims = tuple(range(ndim))
    sizes = [own[d] for d in dims] if s is None else [own[d] if n == -1 else n for d, n in zip(dims, s)]
    return dims, tuple([checked(n) for n in sizes])


cdef Tensor with_sizes(Tensor x, tuple dims, tuple sizes):
    for d, n in zip(dims, sizes):
        x = resized(x, d, n)
    return x


cdef Tensor resized(Tensor x, int dim, long long size):
    """The tensor cut or padded with zeros to `size` elements along `dim`."""
    cdef long long own = cnp.PyArray_DIM(x.array, dim)
    if size <= own:
        return x if size == own else <Tensor> (<object> x)[(slice(None),) * dim + (slice(0, size),)]
    sizes = list((<object> x).shape)
    sizes[dim] = size - own
    return <Tensor> cat([x, (<object> x).new_zeros(sizes)], dim)
