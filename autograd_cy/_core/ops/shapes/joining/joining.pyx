"""Tensors joined and repeated by other operations, and grids."""

from itertools import combinations as combinations_of, combinations_with_replacement
from math import prod

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport code_of, dtype, dtype_of, promote
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport any_wanted, as_tensor, as_type, new_node, record_all, record_linear, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.shapes.reshaping cimport all_of, zeros_or
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.reshaping import atleast_1d, atleast_2d, atleast_3d, reshape, sizes_argument
from autograd_cy._core.runtime.once import warn_once


cdef list given(object tensors, str operation):
    """A sequence of tensors as a list."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{operation}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    if not tensors:
        raise RuntimeError(f"{operation} expects a non-empty TensorList")
    return [as_tensor(x, operation) for x in tensors]


# joined

@op(methods=(), batch=COMPOSITE)
def hstack(tensors):
    """hstack(tensors) -> Tensor: the tensors joined along the second dimension, vectors along their only one.

    >>> import autograd_cy as ag
    >>> ag.hstack([ag.tensor([[1.0], [2.0]]), ag.tensor([[3.0], [4.0]])])
    tensor([[1., 3.],
            [2., 4.]])
    """
    cdef object rows = atleast_1d(given(tensors, "hstack"))
    return cat(rows, 0 if rank_of(rows[0]) == 1 else 1)


@op(methods=(), batch=COMPOSITE)
def vstack(tensors):
    """vstack(tensors) -> Tensor: the tensors joined along the first dimension, vectors as rows.

    >>> import autograd_cy as ag
    >>> ag.vstack([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])])
    tensor([[1., 2.],
            [3., 4.]])
    """
    return cat(atleast_2d(given(tensors, "vstack")), 0)


@op(methods=(), batch=COMPOSITE)
def dstack(tensors):
    """dstack(tensors) -> Tensor: the tensors joined along the third dimension.

    >>> import autograd_cy as ag
    >>> ag.dstack([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])])
    tensor([[[1., 3.],
             [2., 4.]]])
    """
    return cat(atleast_3d(given(tensors, "dstack")), 2)


@op(methods=(), batch=COMPOSITE)
def column_stack(tensors):
    """column_stack(tensors) -> Tensor: the tensors joined along the second dimension, vectors as columns.

    >>> import autograd_cy as ag
    >>> ag.column_stack([ag.tensor([1.0, 2.0]), ag.tensor([[3.0], [4.0]])])
    tensor([[1., 3.],
            [2., 4.]])
    """
    columns = [x if rank_of(x) > 1 else reshape(x, (<Tensor> x).array.size, 1) for x in given(tensors, "column_stack")]
    return hstack(columns)


@cython.final
cdef class BlockDiagBackward0(Node):
    """Constants: the positions of the blocks, their sizes as matrices, the sizes and types of the tensors."""

    cdef object vjp(self, object g, int i):
        (row, column), (height, width), (sizes, kind) = self.constants[0][i], self.constants[1][i], self.constants[2][i]
        return as_type(g[row:row + height, column:column + width], kind).reshape(sizes)

    cdef object jvp(self, tuple tangents):
        return block_diag(*[zeros_or(t, (sizes, (<dtype> kind).numpy_dtype))
                            for t, (sizes, kind) in zip(tangents, self.constants[2])])


def batched_block_diag(call, *tensors):
    """Pads each block with zeros to full rows."""
    blocks = [call.front(x) for x in tensors]
    blocks = [x if x.ndim == 3 else x.reshape(call.size, 1, prod(x.shape[1:])) for x in blocks]
    width, before, rows = sum([x.shape[2] for x in blocks]), 0, []
    for x in blocks:
        after = width - before - x.shape[2]
        rows.append(cat([x.new_zeros(*x.shape[:2], before), x, x.new_zeros(*x.shape[:2], after)], 2))
        before += x.shape[2]
    return cat(rows, 1)


@op(methods=(), batch=batched_block_diag)
def block_diag(tensors: Tensor | Sequence[Tensor] = (), *others: Tensor):
    """block_diag(*tensors) -> Tensor: a matrix of zeros with the tensors as blocks along its diagonal.

    Tensors have at most two dimensions; a vector is a row.

    >>> import autograd_cy as ag
    >>> ag.block_diag(ag.tensor([[1.0], [2.0]]), ag.tensor([3.0, 4.0]))
    tensor([[1., 0., 0.],
            [2., 0., 0.],
            [0., 3., 4.]])
    """
    cdef Tensor x, y
    cdef list found = [as_tensor(x, "block_diag") for x in all_of(tensors, others)], blocks = [], starts = []
    cdef int dtype_code = code_of((<Tensor> found[0]).array) if found else code_of(np.empty(0, np.float32))
    cdef Py_ssize_t height = 0, width = 0 if found else 1
    for k, x in enumerate(found):
        if cnp.PyArray_NDIM(x.array) > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {k} has "
                               f"{cnp.PyArray_NDIM(x.array)} dimensions")
        dtype_code = promote(dtype_code, code_of(x.array))
        blocks.append(np.atleast_2d(x.array))
    height, width = sum([b.shape[0] for b in blocks]) if found else 1, sum([b.shape[1] for b in blocks])
    array = np.zeros((height, width), (<dtype> dtype_of(dtype_code)).numpy_dtype)
    row = column = 0
    for block in blocks:
        array[row:row + block.shape[0], column:column + block.shape[1]] = block
        starts.append((row, column))
        row, column = row + block.shape[0], column + block.shape[1]
    y = new_tensor(array)
    if any_wanted(found):
        kinds = [(shape_of(x), dtype_of(code_of(x.array))) for x in found]
        record_all(new_node(BlockDiagBackward0, (starts, [b.shape for b in blocks], kinds)), y, found)
    return y


# repeated

@cython.final
cdef class RepeatBackward0(Node):
    cdef tuple constant_names(self):
        return ("repeats", "self_sym_sizes")

    cdef object vjp(self, object g, int i):
        """The sum over the repetitions, which form a dimension before the repeated one."""
        repeats, sizes = self.constants
        own = (1,) * (len(repeats) - len(sizes)) + sizes
        if 0 in repeats:
            return g.new_zeros(sizes)
        apart = tuple([n for pair in zip(repeats, own) for n in pair])
        dims = [2 * axis for axis in range(len(repeats)) if repeats[axis] > 1]
        g = g.reshape(apart)
        return (g.sum(dims) if dims else g).reshape(sizes)

    cdef tuple arguments(self):
        return (self.constants[0],)


def batched_repeat(call, input, *repeats):
    cdef object times = sizes_argument(repeats)
    if len(times) < rank_of(input):
        call.on_sample(input, times)            # raises the error
    return call(call.aligned(input, len(times)), (1, *times))


@op(methods=("repeat",), linear=RepeatBackward0, batch=batched_repeat)
def repeat(input, *repeats):
    """repeat(input, repeats) -> Tensor: a copy repeated that many times along each dimension.

    If there are more numbers than dimensions, the first ones add new dimensions.

    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0]).repeat(2, 2)
    tensor([[1., 2., 1., 2.],
            [1., 2., 1., 2.]])
    """
    cdef Tensor x = as_tensor(input, "repeat")
    cdef tuple times = sizes_argument(repeats)
    if len(times) < cnp.PyArray_NDIM(x.array):
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if min(times, default=0) < 0:
        raise RuntimeError("Trying to create tensor with negative dimension "
                           f"{min([n * size for n, size in zip(times, (1,) * (len(times) - x.array.ndim) + shape_of(x))])}: "
                           f"{[n * size for n, size in zip(times, (1,) * (len(times) - x.array.ndim) + shape_of(x))]}")
    return record_linear(RepeatBackward0, (times, shape_of(x)), x, repeated(x.array, times))


cdef cnp.ndarray repeated(cnp.ndarray array, tuple times):
    """np.tile in a single copy."""
    cdef tuple sizes = (1,) * (len(times) - array.ndim) + np.shape(array)
    cdef list apart = [], room = []
    for n, size in zip(times, sizes):
        apart += [1, size]
        room += [n, size]
    result = np.empty(tuple([n * size for n, size in zip(times, sizes)]), array.dtype)
    if result.size:
        result.reshape(room)[...] = array.reshape(apart)
    return result


@op(methods=("tile",), batch=COMPOSITE)
def tile(input, *dims):
    """tile(input, dims) -> Tensor: a copy repeated `dims` times along the last dimensions.

    >>> import autograd_cy as ag
    >>> ag.tile(ag.tensor([[1.0], [2.0]]), (2,))
    tensor([[1., 1.],
            [2., 2.]])
    """
    cdef Tensor x = as_tensor(input, "tile")
    cdef tuple times = sizes_argument(dims)
    return input.repeat((1,) * (cnp.PyArray_NDIM(x.array) - len(times)) + times)


# grids

@op(methods=(), batch=COMPOSITE)
def meshgrid(tensors: Tensor | Sequence[Tensor] = (), *others: Tensor, indexing: str | None = None):
    """meshgrid(*tensors, indexing='ij') -> tuple of Tensors: views with the coordinates of the grid spanned by vectors.

    There is one view for each tensor, in the shape of the grid. indexing='xy' swaps the first two dimensions.

    >>> import autograd_cy as ag
    >>> ag.meshgrid(ag.tensor([1.0, 2.0]), ag.tensor([3.0]), indexing="ij")
    (tensor([[1.],
            [2.]]), tensor([[3.],
            [3.]]))
    """
    cdef list vectors = given(all_of(tensors, others), "meshgrid")
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in vectors:
        if rank_of(x) > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x}")
        if x.dtype is not vectors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    turned = indexing == "xy" and len(vectors) > 1
    if turned:
        vectors[:2] = vectors[1::-1]
    sizes = tuple([(<Tensor> x).array.size for x in vectors])
    n = len(sizes)
    grids = [reshape(x, (1,) * k + (-1,) + (1,) * (n - 1 - k)).expand(sizes) for k, x in enumerate(vectors)]
    if turned:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@op(methods=(), batch=COMPOSITE)
def cartesian_prod(tensors: Tensor | Sequence[Tensor] = (), *others: Tensor):
    """cartesian_prod(*tensors) -> Tensor: all ways to choose one element of each vector, as rows.

    >>> import autograd_cy as ag
    >>> ag.cartesian_prod(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([[1., 3.],
            [1., 4.],
            [2., 3.],
            [2., 4.]])
    """
    cdef list vectors = given(all_of(tensors, others), "meshgrid")
    for x in vectors:
        if rank_of(x) != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")
    if len(vectors) == 1:
        return vectors[0]
    grids = meshgrid(vectors, indexing="ij")
    return stack([x.flatten() for x in grids], 1)


@op(methods=(), batch=COMPOSITE)
def combinations(input, r: int = 2, with_replacement: bool = False):
    """combinations(input, r=2, with_replacement=False) -> Tensor: all ways to choose r elements of a vector, as rows.

    >>> import autograd_cy as ag
    >>> ag.combinations(ag.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 2.],
            [1., 3.],
            [2., 3.]])
    """
    cdef Tensor x = as_tensor(input, "combinations")
    cdef Py_ssize_t n
    if cnp.PyArray_NDIM(x.array) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(shape_of(x))}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty(0)
    n = cnp.PyArray_SIZE(x.array)
    try:
        chosen = (combinations_with_replacement if with_replacement else combinations_of)(range(n), r)
    except MemoryError:
        raise MemoryError(f"combinations(): no memory for rows of {r} out of {n} elements") from None
    columns = np.array(list(chosen), np.int64).reshape(-1, r)
    return stack([input.index_select(0, new_tensor(column.copy())) for column in columns.T], 1)
