"""Diagonals and triangles of matrices, and padding."""

from operator import methodcaller

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport (
    copy_in_order, dense_copy, fitting, has_channels_last, is_flat, new_array, new_in_format)
from autograd_cy._core.arrays.dtypes cimport FLOAT16, code_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_linear, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.loops cimport copy_triangles
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import inplace_op, op
from autograd_cy._core.ops.shapes.reshaping import flip, reshape, sizes_argument


# diagonals

@cython.final
cdef class DiagEmbedBackward0(Node):
    cdef tuple constant_names(self):
        return ("offset", "dim1", "dim2")

    cdef object vjp(self, object g, int i):
        return diagonal(g, *self.constants)

    cdef tuple arguments(self):
        return self.constants


def batched_diag_embed(call, input, offset=0, dim1=-2, dim2=-1):
    cdef int rank = rank_of(input) + 1
    return call(call.value(input), offset, wrap_dim(dim1, rank) + 1, wrap_dim(dim2, rank) + 1)


@op(methods=("diag_embed",), linear=DiagEmbedBackward0, batch=batched_diag_embed)
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """diag_embed(input, offset=0, dim1=-2, dim2=-1) -> Tensor: zeros with the last dimension as the diagonal of matrices.

    They lie in dim1 and dim2 of the result. diagonal() takes them out again.

    >>> import autograd_cy as ag
    >>> ag.diag_embed(ag.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    cdef Tensor x = as_tensor(input, "diag_embed")
    cdef int ndim = cnp.PyArray_NDIM(x.array) + 1, a = wrap_dim(dim1, ndim), b = wrap_dim(dim2, ndim)
    if ndim == 1:
        raise RuntimeError("diag_embed(): expected a tensor with at least one dimension")
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    others = list(shape_of(x)[:-1])
    size = shape_of(x)[-1] + abs(offset)
    for d in sorted((a, b)):
        others.insert(d, size)
    array = np.zeros(others, x.array.dtype)
    place = array.diagonal(offset, a, b)
    place.flags.writeable = True
    place[...] = x.array
    return record_linear(DiagEmbedBackward0, (offset, a, b), x, array)


@op(methods=("diagflat",), batch=COMPOSITE)
def diagflat(input, offset=0):
    """diagflat(input, offset=0) -> Tensor: a matrix of zeros with the flattened elements as its diagonal.

    >>> import autograd_cy as ag
    >>> ag.diagflat(ag.tensor([[1.0], [2.0]]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    cdef Tensor x = as_tensor(input, "diagflat")
    return diag_embed(reshape(input.contiguous(), cnp.PyArray_SIZE(x.array)), offset)


@cython.final
cdef class TraceBackward0(Node):
    cdef tuple constant_names(self):
        return ("self_sym_sizes",)

    cdef object vjp(self, object g, int i):
        sizes = self.constants[0]
        return embed(g.expand(min(sizes)), sizes, methodcaller("diagonal"))

    cdef tuple arguments(self):
        return ()


def batched_trace(call, input):
    if rank_of(input) != 2:
        call.on_sample(input)                       # raises the error
    return call.value(input).diagonal(0, 1, 2).sum(1)


@op(methods=("trace",), linear=TraceBackward0, batch=batched_trace)
def trace(input):
    """trace(input) -> Tensor: the sum of the diagonal of a matrix; int64 for integers.

    >>> import autograd_cy as ag
    >>> ag.trace(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    cdef Tensor x = as_tensor(input, "trace")
    if cnp.PyArray_NDIM(x.array) != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim "
                           f"{cnp.PyArray_NDIM(x.array)}")
    kind = np.int64 if code_of(x.array) < FLOAT16 else x.array.dtype
    return record_linear(TraceBackward0, (shape_of(x),), x, np.asarray(x.array.diagonal().sum(dtype=kind)))


# triangles

cdef class Triangle(Node):
    cdef tuple constant_names(self):
        return ("diagonal",)

    cdef tuple arguments(self):
        return self.constants


@cython.final
cdef class TrilBackward0(Triangle):
    cdef object vjp(self, object g, int i):
        return tril(g, self.constants[0])


@cython.final
cdef class TriuBackward0(Triangle):
    cdef object vjp(self, object g, int i):
        return triu(g, self.constants[0])


def batched_triangle(call, input, diagonal=0):
    if rank_of(input) < 2:
        call.on_sample(input, diagonal)             # raises the error
    return call(call.value(input), diagonal)


@op(methods=("tril",), linear=TrilBackward0, batch=batched_triangle)
def tril(input, diagonal: int = 0):
    """tril(input, diagonal=0) -> Tensor: the lower triangle of a matrix, or of each of a batch, up to a diagonal; else zeros.

    >>> import autograd_cy as ag
    >>> ag.tril(ag.ones(2, 3))
    tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """
    cdef Tensor x = as_tensor(input, "tril")
    return record_linear(TrilBackward0, (diagonal,), x, triangle(x, diagonal, True, "tril"))


@op(methods=("triu",), linear=TriuBackward0, batch=batched_triangle)
def triu(input, diagonal: int = 0):
    """triu(input, diagonal=0) -> Tensor: the upper triangle of a matrix, or of each of a batch, from a diagonal on.

    >>> import autograd_cy as ag
    >>> ag.triu(ag.ones(2, 3))
    tensor([[1., 1., 1.],
            [0., 1., 1.]])
    """
    cdef Tensor x = as_tensor(input, "triu")
    return record_linear(TriuBackward0, (diagonal,), x, triangle(x, diagonal, False, "triu"))


cdef cnp.ndarray triangle(Tensor x, Py_ssize_t diagonal, bint lower, str operation):
    cdef cnp.ndarray array = x.array, result
    cdef int ndim = cnp.PyArray_NDIM(array)
    cdef Py_ssize_t rows, row_bytes
    if ndim < 2:
        raise RuntimeError(f"{operation}: input tensor must have at least 2 dimensions")
    result = new_array(code_of(array), ndim, cnp.PyArray_DIMS(array))
    if cnp.PyArray_SIZE(array):
        rows, row_bytes = cnp.PyArray_DIM(array, ndim - 2), cnp.PyArray_DIM(array, ndim - 1) * cnp.PyArray_ITEMSIZE(array)
        array = array if is_flat(array) else dense_copy(array)
        copy_triangles(bytes_of(result, row_bytes), bytes_of(array, row_bytes), rows, diagonal, cnp.PyArray_ITEMSIZE(array),
                       lower)
    return result


cdef object bytes_of(cnp.ndarray array, Py_ssize_t row_bytes):
    """A dense array as rows of bytes."""
    return array.reshape(-1).view(np.uint8).reshape(-1, row_bytes)


def tril_(Tensor self, diagonal: int = 0):
    """tril_(diagonal=0) -> Tensor: tril() written into the tensor's own memory."""
    return in_place("tril_", tril, self, (diagonal,))


def triu_(Tensor self, diagonal: int = 0):
    """triu_(diagonal=0) -> Tensor: triu() written into the tensor's own memory."""
    return in_place("triu_", triu, self, (diagonal,))


inplace_op(tril_, tril)
inplace_op(triu_, triu)


# rotation and padding

@cython.final
cdef class Rot90Backward0(Node):
    cdef tuple constant_names(self):
        return ("k", "dims")

    cdef object vjp(self, object g, int i):
        return rot90(g, -self.constants[0], self.constants[1])

    cdef tuple arguments(self):
        return self.constants


def batched_rot90(call, input, k=1, dims=(0, 1)):
    return call(call.value(input), k, [wrap_dim(d, rank_of(input)) + 1 for d in dims])


@op(methods=("rot90",), linear=Rot90Backward0, batch=batched_rot90)
def rot90(input, k: int = 1, dims: Sequence[int] = (0, 1)):
    """rot90(input, k=1, dims=(0, 1)) -> Tensor: a copy rotated by k times 90 degrees, from dims[0] to dims[1].

    >>> import autograd_cy as ag
    >>> ag.rot90(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[2., 4.],
            [1., 3.]])
    """
    cdef Tensor x = as_tensor(input, "rot90")
    cdef int ndim = cnp.PyArray_NDIM(x.array), a, b
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    a, b = wrap_dim(dims[0], ndim), wrap_dim(dims[1], ndim)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    turns = k % 4
    flipped = np.flip(x.array, {0: (), 1: (b,), 2: (a, b), 3: (a,)}[turns])
    copy = copy_of_flipped(flipped, turns)
    return record_linear(Rot90Backward0, (k, (a, b)), x, copy.swapaxes(a, b) if turns % 2 else copy)


cdef object copy_of_flipped(object flipped, int turns):
    """In C order if nothing is rotated, else in the order of the dimensions: NOTE [Layouts of results]."""
    return flipped.copy("C" if turns == 0 else "K")


@op(methods=("fliplr",), batch=COMPOSITE)
def fliplr(input):
    """fliplr(input) -> Tensor: a copy with the order of the columns reversed, the second dimension.

    >>> import autograd_cy as ag
    >>> ag.fliplr(ag.tensor([[1.0, 2.0]]))
    tensor([[2., 1.]])
    """
    if rank_of(as_tensor(input, "fliplr")) < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


@op(methods=("flipud",), batch=COMPOSITE)
def flipud(input):
    """flipud(input) -> Tensor: a copy with the order of the rows reversed, the first dimension.

    >>> import autograd_cy as ag
    >>> ag.flipud(ag.tensor([1.0, 2.0]))
    tensor([2., 1.])
    """
    if rank_of(as_tensor(input, "flipud")) < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


@cython.final
cdef class ConstantPadNdBackward0(Node):
    cdef tuple constant_names(self):
        return ("pad",)

    cdef object vjp(self, object g, int i):
        return constant_pad_nd(g, [-n for n in self.constants[0]])

    cdef tuple arguments(self):
        return self.constants


def batched_pad(call, input, pad, value=0):
    if len(pad) > 2 * rank_of(input):
        call.on_sample(input, pad)                  # raises the error
    return call(call.value(input), pad, value)


@op(methods=(), linear=ConstantPadNdBackward0, batch=batched_pad)
def constant_pad_nd(input, pad: Sequence[int], value: _Number = 0):
    """constant_pad_nd(input, pad, value=0) -> Tensor: a copy padded with `value` at both ends.

    `pad` has the numbers of rows before and after for the last dimension, then for the one before it. Negative numbers remove
    rows.

    >>> import autograd_cy as ag
    >>> ag.constant_pad_nd(ag.tensor([1.0, 2.0]), (1, -1), 9)
    tensor([9., 1.])
    """
    cdef Tensor x = as_tensor(input, "constant_pad_nd")
    cdef tuple widths = sizes_argument((pad,)), sizes = shape_of(x)
    cdef int ndim = len(sizes)
    if len(widths) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(widths)}")
    if len(widths) > 2 * ndim:
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
                           f"{len(widths)} while the input has {ndim} dimensions.")
    wanted, target, source = list(sizes), [slice(None)] * ndim, [slice(None)] * ndim
    for k in range(len(widths) // 2):
        before, behind, axis = widths[2 * k], widths[2 * k + 1], ndim - 1 - k
        wanted[axis] = sizes[axis] + before + behind
        if wanted[axis] < 0:
            raise RuntimeError(f"The input size {sizes[axis]}, plus negative padding {before} and {behind} resulted in a "
                               f"negative output size, which is invalid. Check dimension {axis} of your input.")
        if min(before, 0) + min(behind, 0) + sizes[axis] < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
        target[axis] = slice(max(before, 0), wanted[axis] - max(behind, 0))
        source[axis] = slice(max(-before, 0), sizes[axis] - max(-behind, 0))
    if max(widths, default=0) <= 0:                     # PyTorch clones the rest
        return record_linear(ConstantPadNdBackward0, (widths,), x, copy_in_order(x.array[(*source, ...)], code_of(x.array)))
    array = new_in_format(code_of(x.array), tuple(wanted), has_channels_last(x.array))
    array.fill(fitting(value, code_of(x.array)) if value else 0)
    array[tuple(target)] = x.array[tuple(source)]
    return record_linear(ConstantPadNdBackward0, (widths,), x, array)
