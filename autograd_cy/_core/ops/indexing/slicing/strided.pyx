"""Views with other strides: as_strided, and the windows that unfold slides along a dimension."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport copy_in_order, strided_view
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.batching.batched cimport BatchLevel, at_level_or_expanded, batched, level_of
from autograd_cy._core.graph.memory cimport offset_of, room_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport (
    any_wanted, as_tensor, new_node, record_all, record_view, shape_of, tensor_argument, wrap_dim)
from autograd_cy._core.graph.tensor cimport Tensor, extend, new_tensor
from autograd_cy._core.ops.shapes.reshaping cimport overlapped
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import first_value, rank_of
from autograd_cy._core.batching.rules import declare_rule
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat
from autograd_cy._core.ops.shapes.reshaping import sizes_argument


# windows

@cython.final
cdef class UnfoldBackward0(Node):
    cdef tuple constant_names(self):
        return ("self_sym_sizes", "dimension", "size", "step")

    cdef object vjp(self, object g, int i):
        sizes, d, _size, step = self.constants
        if not sizes:
            return g.sum()
        return overlapped(<Tensor> g, sizes, d, step)

    cdef tuple arguments(self):
        return self.constants[1:]


def batched_unfold(call, input, dimension, size, step):
    cdef int rank = rank_of(input)
    if rank == 0:
        return call(call.value(input).unsqueeze(1), 1, size, step).squeeze(1)
    return call(call.value(input), wrap_dim(dimension, rank) + 1, size, step)


@op(methods=("unfold",), linear=UnfoldBackward0, batch=batched_unfold)
def unfold(input, dimension: int, size: int, step: int):
    """unfold(input, dimension, size, step) -> Tensor: a view of windows of that size, each `step` rows after the one before.

    The last dimension runs over a window's elements.

    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0, 3.0]).unfold(0, 2, 1)
    tensor([[1., 2.],
            [2., 3.]])
    """
    cdef Tensor x = as_tensor(input, "unfold")
    cdef cnp.npy_intp[64] dims, strides
    cdef int ndim = cnp.PyArray_NDIM(x.array), d = wrap_dim(dimension, ndim), axis
    cdef Py_ssize_t length = cnp.PyArray_DIM(x.array, d) if ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    for axis in range(ndim):
        dims[axis], strides[axis] = cnp.PyArray_DIM(x.array, axis), cnp.PyArray_STRIDE(x.array, axis)
    dims[ndim], strides[ndim] = size, cnp.PyArray_STRIDE(x.array, d) if ndim else cnp.PyArray_ITEMSIZE(x.array)
    if ndim:
        dims[d], strides[d] = (length - size) // step + 1, strides[d] * step
    return record_view(UnfoldBackward0, (shape_of(x), d, size, step), x,
                       strided_view(x.array, cnp.PyArray_BYTES(x.array), ndim + 1, dims, strides))


# any strides

cdef object element_places(tuple sizes, tuple strides, Py_ssize_t offset):
    """The offset in memory of each element of a strided tensor."""
    places = np.full((), offset, np.int64)
    for n, step in zip(sizes, strides):
        places = np.add.outer(places, np.arange(n) * step)
    return places


cdef tuple geometry(Tensor x, object size, object stride, object storage_offset, str operation):
    """The checked sizes, strides and offset of a part of the tensor's memory."""
    cdef tuple sizes = sizes_argument((size,)), steps = sizes_argument((stride,))
    cdef Py_ssize_t offset = offset_of(x.array) if storage_offset is None else storage_offset, last
    if len(sizes) != len(steps):
        raise RuntimeError(f"mismatch in length of strides and shape ({operation}())")
    if min(steps, default=0) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}")
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    last = offset + sum([(n - 1) * step for n, step in zip(sizes, steps)]) + 1
    if 0 not in sizes and last * cnp.PyArray_ITEMSIZE(x.array) > room_of(x.array):
        raise RuntimeError(f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {offset}, and itemsize "
                           f"{cnp.PyArray_ITEMSIZE(x.array)} requiring a storage size of "
                           f"{last * cnp.PyArray_ITEMSIZE(x.array)} are out of bounds for storage of size {room_of(x.array)}")
    return sizes, steps, offset


cdef tuple numbers_in(Tensor x, tuple part, int batch):
    """For each element of a part of the tensor's memory, the index of the tensor's element there, or the tensor's size.

    The second result is None unless elements of the tensor share places: then it is the representative of each element, and
    the number of elements in its place. The first `batch` dimensions count samples. Indices are those within a sample, even if
    samples share memory.
    """
    cdef cnp.ndarray sample = strided_view(x.array, cnp.PyArray_BYTES(x.array), cnp.PyArray_NDIM(x.array) - batch,
                                           cnp.PyArray_DIMS(x.array) + batch, cnp.PyArray_STRIDES(x.array) + batch)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(sample), item = cnp.PyArray_ITEMSIZE(sample)
    cdef tuple steps = tuple([s // item for s in (<object> sample).strides])
    own = element_places((<object> sample).shape, steps, offset_of(sample)).reshape(-1)
    wanted = element_places(part[0][batch:], part[1][batch:], part[2]).reshape(-1)
    known = np.full(max(own.max(initial=0), wanted.max(initial=0)) + 1, n, np.int64)
    known[own] = np.arange(n)
    numbers, shared = new_tensor(known[wanted]), None
    representative = known[own]
    if (representative != np.arange(n)).any():
        shared = new_tensor(representative), new_tensor(np.bincount(representative, minlength=n)[representative])
    return numbers, shared


@cython.final
cdef class AsStridedBackward0(Node):
    cdef tuple constant_names(self):
        return ("size", "stride", "storage_offset")

    cdef object vjp(self, object g, int i):
        """The sum for each element; elements that share memory get equal shares."""
        sizes, numbers, shared, batch = self.constants[3:]
        samples, n = products_of(sizes, batch)
        g = g.reshape(samples, numbers.shape[0])
        whole = g.new_zeros((samples, n + 1)).index_add(1, numbers, g).narrow(1, 0, n)
        if shared is not None:
            whole = whole.index_select(1, shared[0]) / shared[1]
        return whole.reshape(sizes)

    cdef object jvp(self, tuple tangents):
        sizes, numbers, shared, batch = self.constants[3:]
        samples, n = products_of(sizes, batch)
        t = tangents[0].reshape(samples, n)
        if shared is not None:
            t = t.new_zeros((samples, n)).index_add(1, shared[0], t) / shared[1]
        return cat([t, t.new_zeros((samples, 1))], 1).index_select(1, numbers).reshape(self.constants[0])


cdef tuple products_of(tuple sizes, int batch):
    """The number of samples, and the size of each, in a tensor whose first dimensions count samples."""
    return int(np.prod(sizes[:batch], dtype=np.int64)), int(np.prod(sizes[batch:], dtype=np.int64))


def batched_as_strided(call, input, size, stride, storage_offset=None):
    sizes = (call.size, *sizes_argument((size,)))
    return strided(<Tensor> call.value(input), sizes, sizes_argument((stride,)), storage_offset, 1)


cdef Tensor strided(Tensor x, tuple size, tuple stride, object storage_offset, int batch):
    """as_strided() of each sample; the first `batch` dimensions of `x` and of `size` count samples."""
    cdef BatchLevel level
    cdef tuple part
    if x.batched:
        level = level_of(x)
        return batched(strided(first_value(x), (level.size, *size), stride, storage_offset, batch + 1), level)
    if batch:
        stride = (<object> x).stride()[:batch] + stride
    part = geometry(x, size, stride, storage_offset, "as_strided")
    array = strided_part(x.array, part)
    constants = (*part, shape_of(x), *numbers_in(x, part, batch), batch) if any_wanted((x,)) else ()
    return record_view(AsStridedBackward0, constants, x, array)


@op(methods=("as_strided",), batch=batched_as_strided)
def as_strided(input, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None):
    """as_strided(input, size, stride, storage_offset=None) -> Tensor: a view of the tensor's memory.

    It has sizes and strides of its own. Strides and offset count elements. Elements may appear several times; their gradients
    are added up.

    >>> import autograd_cy as ag
    >>> ag.as_strided(ag.tensor([1.0, 2.0, 3.0]), (2, 2), (1, 1))
    tensor([[1., 2.],
            [2., 3.]])
    """
    return strided(as_tensor(input, "as_strided"), sizes_argument((size,)), sizes_argument((stride,)), storage_offset, 0)


cdef cnp.ndarray strided_part(cnp.ndarray array, tuple part):
    cdef cnp.npy_intp[64] dims, strides
    cdef Py_ssize_t item = cnp.PyArray_ITEMSIZE(array), shift = part[2] - offset_of(array)
    cdef int axis, ndim = len(part[0])
    if ndim > 64:
        raise RuntimeError("as_strided(): a tensor has at most 64 dimensions")
    for axis in range(ndim):
        dims[axis], strides[axis] = part[0][axis], part[1][axis] * item
    return strided_view(array, cnp.PyArray_BYTES(array) + shift * item, ndim, dims, strides)


@cython.final
cdef class AsStridedScatterBackward0(Node):
    cdef tuple constant_names(self):
        return ("size", "stride", "storage_offset")

    cdef object vjp(self, object g, int i):
        sizes, numbers, batch = self.constants[3:]
        samples, n = products_of(sizes, batch)
        if i:
            whole = cat([g.reshape(samples, n), g.new_zeros((samples, 1))], 1)
            return whole.index_select(1, numbers).reshape(self.constants[0])
        return replaced(g, g.new_zeros(self.constants[0]), numbers, sizes, batch)

    cdef object jvp(self, tuple tangents):
        t, source = tangents
        sizes, numbers, batch = self.constants[3:]
        t = source.new_zeros(sizes) if t is None else t
        source = t.new_zeros(self.constants[0]) if source is None else source
        return replaced(t, source, numbers, sizes, batch)


cdef object replaced(object x, object source, Tensor numbers, tuple sizes, int batch):
    """A copy with the elements at those indices replaced in each sample; index n is one past the end and is dropped."""
    samples, n = products_of(sizes, batch)
    whole = cat([x.reshape(samples, n), x.new_zeros((samples, 1))], 1)
    return whole.index_copy(1, numbers, source.reshape(samples, (<object> numbers).shape[0])).narrow(1, 0, n).reshape(sizes)


cdef Tensor last_of_each(Tensor numbers, Py_ssize_t n):
    """Indices of elements to replace. Of repeated indices, all but the last become `n`, one past the end."""
    cdef object known = numbers.array, order = np.arange(known.size), last = np.zeros(n + 1, np.int64)
    last[known] = order
    return new_tensor(np.where(last[known] == order, known, n))


def batched_as_strided_scatter(call, input, src, size, stride, storage_offset=None):
    sizes = (call.size, *sizes_argument((size,)))
    return scattered(<Tensor> call.front(input), <Tensor> call.front(src), sizes, sizes_argument((stride,)), storage_offset, 1)


cdef Tensor scattered(Tensor x, Tensor s, tuple size, tuple stride, object storage_offset, int batch):
    """as_strided_scatter() of each sample; the first `batch` dimensions of the tensors and of `size` count samples."""
    cdef BatchLevel level = level_of(x), other = level_of(s)
    cdef Tensor y
    cdef tuple part
    if level is None or (other is not None and other.number > level.number):
        level = other
    if level is not None:
        return batched(scattered(at_level_or_expanded(x, level), at_level_or_expanded(s, level), (level.size, *size), stride,
                                 storage_offset, batch + 1), level)
    if batch:
        stride = (<object> x).stride()[:batch] + stride
    part = geometry(x, size, stride, storage_offset, "as_strided_scatter")
    if shape_of(s) != part[0]:
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(shape_of(s)[batch:])}, "
                           f"slice size = {list(part[0][batch:])}")
    samples, n = products_of(shape_of(x), batch)
    numbers = last_of_each(numbers_in(x, part, batch)[0], n)
    flat = np.append(x.array.reshape(samples, n), np.zeros((samples, 1), x.array.dtype), 1)
    flat[:, numbers.array] = s.array.reshape(samples, numbers.array.size)
    array = copy_in_order(x.array, code_of(x.array))
    array[...] = flat[:, :-1].reshape(shape_of(x))
    y = new_tensor(array)
    if any_wanted((x, s)):
        record_all(new_node(AsStridedScatterBackward0, (*part, shape_of(x), numbers, batch)), y, (x, s))
    return y


@op(methods=("as_strided_scatter",), batch=batched_as_strided_scatter)
def as_strided_scatter(input, src, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None):
    """as_strided_scatter(input, src, size, stride, storage_offset=None) -> Tensor: a copy with as_strided() replaced by `src`.

    If elements appear several times in as_strided() the last one counts.

    >>> import autograd_cy as ag
    >>> ag.as_strided_scatter(ag.zeros(3), ag.tensor([1.0, 2.0]), (2,), (2,))
    tensor([1., 0., 2.])
    """
    return scattered(as_tensor(input, "as_strided_scatter"), tensor_argument(src, "as_strided_scatter", "src", 2),
                     sizes_argument((size,)), sizes_argument((stride,)), storage_offset, 0)


def storage_offset(Tensor self):
    """storage_offset() -> int: the number of elements before the tensor's first one in its memory."""
    return offset_of(self.array)


extend("storage_offset", storage_offset)
declare_rule(storage_offset, lambda call, self: call.value(self).storage_offset())
