"""Repeated rows, flat indices as coordinates, writing a diagonal, and resize_as_."""

from math import prod

import numpy as np

from autograd_cy._core.arrays.dtypes cimport FLOAT16, INT32, INT64, code_of
from autograd_cy._core.graph.record cimport as_tensor, shape_of, shown, tensor_argument, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.arrays import formats
from autograd_cy._core.batching.rules import COMPOSITE, on_values
from autograd_cy._core.ops.registry import inplace_op, op
from autograd_cy._core.ops.shapes.reshaping import sizes_argument


@op(methods=("repeat_interleave",), batch=COMPOSITE)
def repeat_interleave(input, repeats: int | Tensor | None = None, dim: int | None = None, *, output_size: int | None = None):
    """repeat_interleave(input, repeats, dim=None, *, output_size=None) -> Tensor: each row along `dim` repeated.

    `repeats` is a number, or a vector with one for each row. Without `dim` the flattened elements are repeated.
    repeat_interleave(repeats) alone returns each row's index as often as its repeats say.

    >>> import autograd_cy as ag
    >>> ag.repeat_interleave(ag.tensor([1.0, 2.0]), 2)
    tensor([1., 1., 2., 2.])
    """
    cdef Tensor x = as_tensor(input, "repeat_interleave"), times
    cdef int d
    if repeats is None:
        return new_tensor(numbers_of(x, cnp.PyArray_SIZE(x.array)))
    if dim is None or cnp.PyArray_NDIM(x.array) == 0:
        input = input.reshape(-1)
        d = 0
    else:
        d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    sizes = shape_of(<Tensor> input)
    if isinstance(repeats, Tensor):
        times = <Tensor> repeats
        if cnp.PyArray_SIZE(times.array) == 1 and times.array.ndim == 0:
            times = new_tensor(np.full(sizes[d], times.array))
        numbers = numbers_of(times, sizes[d])
        check_output_size(output_size, len(numbers))
        return input.index_select(d, new_tensor(numbers))
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    check_output_size(output_size, sizes[d] * repeats)
    rows = input.unsqueeze(d + 1).expand(*sizes[:d + 1], repeats, *sizes[d + 1:])
    return rows.clone().contiguous().view(*sizes[:d], sizes[d] * repeats, *sizes[d + 1:])


cdef object numbers_of(Tensor repeats, Py_ssize_t n):
    """Each row's index, as often as the row is repeated."""
    if repeats.batched:
        raise RuntimeError("vmap: repeat_interleave() with repeats that differ from sample to sample has no one shape")
    if cnp.PyArray_NDIM(repeats.array) > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if code_of(repeats.array) not in (INT32, INT64):
        raise RuntimeError("repeats has to be Long or Int tensor")
    times = np.atleast_1d(repeats.array)
    if times.size == 1:
        times = np.full(n, times[0])
    if times.size != n:
        raise RuntimeError(f"repeats must have the same size as input along dim, but got repeats.size(0) = {times.size} and "
                           f"input.size(dim) = {n}")
    if times.size and times.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return np.repeat(np.arange(n), times)


cdef int check_output_size(object wanted, Py_ssize_t size) except -1:
    if wanted is not None and wanted != size:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {wanted}")
    return 0


@op(methods=(), batch=on_values)
def unravel_index(indices: Tensor, shape: int | Sequence[int]):
    """unravel_index(indices, shape) -> tuple of Tensors: the coordinates of elements, from their flat indices.

    `shape` is the shape of the indexed tensor. There is a result for each dimension. ValueError if an index is out of range.

    >>> import autograd_cy as ag
    >>> ag.unravel_index(ag.tensor([1, 3]), (2, 2))
    (tensor([0, 1]), tensor([1, 1]))
    """
    cdef Tensor i = tensor_argument(indices, "unravel_index", "indices", 1)
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape).__name__}")
    for size in shape if isinstance(shape, (tuple, list)) else ():
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size).__name__}")
    cdef tuple sizes = sizes_argument((shape,) if isinstance(shape, (tuple, list)) else (shape,))
    if code_of(i.array) >= FLOAT16 or i.array.dtype == bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {i.dtype}")
    if min(sizes, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    if i.array.size and (i.array.min() < 0 or i.array.max() >= prod(sizes)):
        raise ValueError(f"'indices' must be in the range [0, {prod(sizes)}), the number of elements of shape {sizes}")
    found = []
    rest = i.array.astype(np.int64)
    for n in reversed(sizes):
        rest, own = np.divmod(rest, n) if n else (rest, rest)
        found.append(new_tensor(np.asarray(own, np.int64)))
    return shown("unravel_index", tuple(reversed(found)), (i,))


def fill_diagonal_(Tensor self, fill_value, wrap=False):
    """fill_diagonal_(fill_value, wrap=False) -> Tensor: write a number into the main diagonal.

    With more than two dimensions all must have one size. wrap: in a matrix with more rows than columns the diagonal restarts
    one row after its end.
    """
    cdef tuple sizes = shape_of(self), steps = (<object> self).stride()
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    (<object> self).as_strided((min(sizes),), (sum(steps),)).fill_(fill_value)
    if wrap and len(sizes) == 2 and sizes[0] > sizes[1] + 1:
        for row in range(sizes[1] + 1, sizes[0], sizes[1] + 1):
            block = (<object> self)[row:]
            block.as_strided((min(sizes[0] - row, sizes[1]),), (sum(steps),)).fill_(fill_value)
    return self


def resize_as_(Tensor self, other, memory_format=None):
    """resize_as_(other, *, memory_format=None) -> Tensor: give the tensor the sizes of another one, in place: resize_().

    `memory_format` is the memory order of its dimensions afterwards; with preserve_format it is the one that `other` suggests.
    """
    cdef Tensor like = as_tensor(other, "resize_as_")
    if memory_format is not None and formats.checked(memory_format, "resize_as_") is None:
        memory_format = formats.suggested(like.array)
    return (<object> self).resize_(shape_of(like), memory_format=memory_format)


inplace_op(fill_diagonal_, batch=COMPOSITE)
inplace_op(resize_as_, batch=COMPOSITE)
