"""Rows filled or replaced by index along one dimension, and elements replaced where a mask is true; each also in place."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport dense_copy, fitting
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, INT32, INT64, code_of, dtype
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport (
    any_wanted, as_tensor, as_type, new_node, number_code, record_all, shape_of, tensor_argument, wrap_dim)
from autograd_cy._core.graph.tensor cimport Tensor, array_of, new_tensor
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport check_apart

from autograd_cy._core.batching.batched import all_samples, levels_of, rank_of
from autograd_cy._core.ops.registry import inplace_op, op


# rows

cdef object numbers_of(Tensor index, int dim, Py_ssize_t size, Py_ssize_t least, str operation):
    """The indices as a vector; IndexError unless they lie from `least`, 0 or -size, to size - 1."""
    if code_of(index.array) not in (INT32, INT64):
        raise RuntimeError(f"{operation}(): Expected dtype int32/int64 for index")
    if cnp.PyArray_NDIM(index.array) > 1:
        raise IndexError(f"{operation}(): Index should have dimension 1 or 0 (got {cnp.PyArray_NDIM(index.array)})")
    numbers = index.array.reshape(-1)
    check_numbers(numbers, dim, size, least, operation)
    return numbers


cdef int check_numbers(object numbers, int dim, Py_ssize_t size, Py_ssize_t least, str operation) except -1:
    if numbers.size and (numbers.min() < least or numbers.max() >= size):
        wrong = numbers.min() if numbers.min() < least else numbers.max()
        raise IndexError(f"{operation}(): index {wrong} is out of bounds for dimension {dim} with size {size}")
    return 0


cdef int check_samples(object index, int dim, Py_ssize_t size, Py_ssize_t least, str operation) except -1:
    """Check the indices of all samples."""
    return check_numbers(array_of(all_samples(index, levels_of(index))), dim, size, least, operation)


cdef tuple rows(int dim, object numbers):
    return (slice(None),) * dim + (numbers,)


cdef class ByIndex(Node):
    """Constants: the dimension; the sizes of the source and of the input, or the type of the value."""

    cdef tuple saved_names(self):
        return ("index", None, None)

    cdef tuple constant_names(self):
        return ("dim",)


cdef class IndexFill(ByIndex):
    cdef object vjp(self, object g, int i):
        dim, index = self.constants[0], unpack(self, 0)
        if i == 0:
            return index_fill(g, dim, index, 0)
        return as_type((g - index_fill(g, dim, index, 0)).sum(), <dtype> self.constants[1])


@cython.final
cdef class IndexFillBackward0(IndexFill):
    """The value is a number."""


@cython.final
cdef class IndexFillBackward1(IndexFill):
    """The value is a tensor."""


def mask_of_rows(call, index, Tensor x, int d):
    """Which elements of each sample lie in the rows that its index lists."""
    cdef object numbers = call.front(index).reshape(call.size, index.numel(), 1)
    cdef object size = x.array.shape[d] if x.array.ndim else 1
    check_samples(index, d, size, -size, "index_fill_")
    cdef object named = ((numbers + size * (numbers < 0)) == new_tensor(np.arange(size))).any(1)
    return named.reshape(call.size, *(1,) * d, size, *(1,) * max(rank_of(x) - 1 - d, 0))


def batched_index_fill(call, input, dim, index, value):
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    cdef object x = call.value(input) if call.function is not index_fill else call.front(input)
    if isinstance(value, Tensor) and rank_of(value):
        call.on_sample(input, dim, index, value)            # raises the error
    if rank and not call.is_batched(index) and not call.is_batched(value):
        return call(x, d + 1, index, value)
    mask = mask_of_rows(call, index, <Tensor> input, d)
    mask = mask.reshape(call.size) if rank == 0 else mask
    if isinstance(value, Tensor):
        value = call.front(value).reshape(call.size, *(1,) * rank).to(input.dtype)
        return value.where(mask, x)
    return x.masked_fill(mask, value)


@op(methods=("index_fill",), batch=batched_index_fill)
def index_fill(input, dim, index, value):
    """index_fill(input, dim, index, value) -> Tensor: a copy with the rows in `index` filled with a number or 0-d tensor.

    Rows are counted along `dim`.

    >>> import autograd_cy as ag
    >>> ag.index_fill(ag.zeros(3), 0, ag.tensor([0, 2]), 5)
    tensor([5., 0., 5.])
    """
    cdef Tensor x = as_tensor(input, "index_fill"), i = tensor_argument(index, "index_fill_", "index", 3), y
    cdef Tensor v = value if isinstance(value, Tensor) else None
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    cdef Node node
    if v is not None and cnp.PyArray_NDIM(v.array):
        raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                           f"{cnp.PyArray_NDIM(v.array)} dimension(s).")
    if isinstance(value, np.generic):
        value = value.item()
    if np.iscomplexobj(value if v is None else v.array) and code_of(x.array) < COMPLEX64:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    number = v.array if v is not None else fitting(value, code_of(x.array)) if number_code(value) >= 0 else value
    array = dense_copy(x.array)
    target = array if array.ndim else array.reshape(1)
    target[rows(d, numbers_of(i, d, target.shape[d], -target.shape[d], "index_fill_"))] = number
    y = new_tensor(array)
    operands = (x,) if v is None else (x, v)
    if any_wanted(operands):
        node = new_node(IndexFillBackward0 if v is None else IndexFillBackward1, (d, None if v is None else v.dtype))
        save_input(node, 0, i)
        record_all(node, y, operands)
    return y


@cython.final
cdef class IndexCopyBackward0(ByIndex):
    cdef tuple saved_names(self):
        return ("index", "source", None)

    cdef tuple constant_names(self):
        return ("dim", None, None, "source_dim")

    cdef object vjp(self, object g, int i):
        dim, sizes = self.constants[:2]
        index = unpack(self, 0)
        return g.index_select(dim, index).reshape(sizes) if i else index_fill(g, dim, index, 0)

    cdef object jvp(self, tuple tangents):
        t, source = tangents
        dim, sizes, whole, _ = self.constants
        t = source.new_zeros(whole) if t is None else t
        return index_copy(t, dim, unpack(self, 0), t.new_zeros(sizes) if source is None else source)


def batched_index_copy(call, input, dim, index, source):
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    cdef object x = call.value(input) if call.function is not index_copy else call.front(input), s = call.front(source)
    if rank == 0:
        check_samples(index, 0, 1, 0, "index_copy_")
        return s.reshape(call.size, source.numel()).select(1, -1)
    if not call.is_batched(index):
        return call(x, d + 1, index, s)
    s = call.vectors(source)
    if index.numel() != s.shape[d + 1]:
        call.on_sample(input, dim, index, source)           # raises the error
    numbers = call.front(index).reshape(call.size, *(1,) * d, index.numel(), *(1,) * (rank - 1 - d)).expand(s.shape)
    return x.scatter(d + 1, numbers, s)


@op(methods=("index_copy",), batch=batched_index_copy)
def index_copy(input, dim, index, source):
    """index_copy(input, dim, index, source) -> Tensor: a copy with row index[i] along `dim` replaced by source[i].

    >>> import autograd_cy as ag
    >>> ag.index_copy(ag.zeros(3), 0, ag.tensor([2, 0]), ag.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """
    cdef Tensor x = as_tensor(input, "index_copy"), i = tensor_argument(index, "index_copy_", "index", 3), y
    cdef Tensor s = tensor_argument(source, "index_copy_", "source", 4)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    cdef Node node
    if code_of(x.array) != code_of(s.array):
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{x.dtype} and (source) {s.dtype}")
    array = dense_copy(x.array)
    target = array if array.ndim else array.reshape(1)
    values = s.array if s.array.ndim else s.array.reshape(1)
    numbers = numbers_of(i, d, target.shape[d], 0, "index_copy_")
    if np.shape(values) != target.shape[:d] + numbers.shape + target.shape[d + 1:]:
        raise RuntimeError(f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
                           f"{list(target.shape[:d] + target.shape[d + 1:])} at dimension {d} and source slice shape: "
                           f"{list(np.shape(values))} with {len(numbers)} numbers.")
    target[rows(d, numbers)] = values
    y = new_tensor(array)
    if any_wanted((x, s)):
        node = new_node(IndexCopyBackward0, (d, shape_of(s), shape_of(x), cnp.PyArray_NDIM(s.array)))
        save_input(node, 0, i)
        save_input(node, 1, s)
        record_all(node, y, (x, s))
    return y


# masks

@cython.final
cdef class MaskedScatterBackward0(Node):
    cdef tuple saved_names(self):
        return ("mask", None, None)

    cdef tuple constant_names(self):
        return ("source_sym_sizes",)

    cdef object vjp(self, object g, int i):
        """Only elements of the source that were used have gradients."""
        sizes, whole, own = self.constants
        mask = unpack(self, 0)
        if i == 0:
            return g.masked_fill(mask, 0).sum_to_size(own)
        places = new_tensor(np.flatnonzero(np.broadcast_to((<Tensor> mask).array, whole)))
        n, total = places.numel(), np.prod(sizes, dtype=np.int64)
        return g.new_zeros(total).index_copy(0, new_tensor(np.arange(n)), g.reshape(-1).index_select(0, places)).reshape(sizes)

    cdef object jvp(self, tuple tangents):
        t, source = tangents
        sizes, _, own = self.constants
        t = source.new_zeros(own) if t is None else t
        return masked_scatter(t, unpack(self, 0), t.new_zeros(sizes) if source is None else source)


cdef int check_source(Py_ssize_t size, Py_ssize_t count) except -1:
    if count > size:
        raise RuntimeError("masked_scatter: expected the number of elements in `source` to be at least the number of ones in "
                           f"`mask`: {size} against {count}")
    return 0


def batched_masked_scatter(call, input, mask, source):
    """The n-th true element receives the n-th element of the source."""
    cdef tuple whole = np.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    cdef object x = call.front(input).reshape(call.size, *(1,) * (len(whole) - rank_of(input)), *input.shape)
    cdef object m = call.front(mask).reshape(call.size, *(1,) * (len(whole) - rank_of(mask)), *mask.shape)
    m = m.expand(call.size, *whole)
    s = call.front(source).reshape(call.size, source.numel())
    chosen = array_of(all_samples(m, levels_of(m)))
    check_source(source.numel(), chosen.sum(tuple(range(chosen.ndim - len(whole), chosen.ndim))).max(initial=0))
    if source.numel() == 0:
        return x.expand(call.size, *whole).clone()
    numbers = (m.reshape(call.size, int(np.prod(whole))).long().cumsum(1) - 1).clamp(0, source.numel() - 1)
    return s.gather(1, numbers).reshape(call.size, *whole).where(m, x)


@op(methods=("masked_scatter",), batch=batched_masked_scatter)
def masked_scatter(input, mask, source):
    """masked_scatter(input, mask, source) -> Tensor: a copy with the elements of `source`, in order, where mask is true.

    The mask, a bool tensor, and the input are broadcast to each other.

    >>> import autograd_cy as ag
    >>> ag.masked_scatter(ag.zeros(3), ag.tensor([True, False, True]), ag.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 2.])
    """
    cdef Tensor x = as_tensor(input, "masked_scatter"), m = tensor_argument(mask, "masked_scatter", "mask", 2), y
    cdef Tensor s = tensor_argument(source, "masked_scatter", "source", 3)
    cdef Node node
    if code_of(m.array) != BOOL:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {m.dtype}")
    if code_of(x.array) != code_of(s.array):
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {x.dtype} and {s.dtype}")
    whole = np.broadcast_shapes(np.shape(x.array), np.shape(m.array))
    array = np.array(np.broadcast_to(x.array, whole), order="C")
    chosen = np.broadcast_to(m.array, whole)
    count = np.count_nonzero(chosen)
    check_source(cnp.PyArray_SIZE(s.array), count)
    array[chosen] = s.array.reshape(-1)[:count]
    y = new_tensor(array)
    if any_wanted((x, s)):
        node = new_node(MaskedScatterBackward0, (shape_of(s), whole, shape_of(x)))
        save_input(node, 0, m)
        record_all(node, y, (x, s))
    return y


# in place

def index_fill_(Tensor self, dim, index, value):
    """index_fill_(dim, index, value) -> Tensor: index_fill() written into the tensor's own memory."""
    check_apart(self, (index,))
    return in_place("index_fill_", index_fill, self, (dim, index, value))


def index_copy_(Tensor self, dim, index, source):
    """index_copy_(dim, index, source) -> Tensor: index_copy() written into the tensor's own memory."""
    check_apart(self, (index, source))
    return in_place("index_copy_", index_copy, self, (dim, index, source))


def masked_scatter_(Tensor self, mask, source):
    """masked_scatter_(mask, source) -> Tensor: masked_scatter() written into the tensor's own memory."""
    return in_place("masked_scatter_", masked_scatter, self, (mask, source))


inplace_op(index_fill_, index_fill)
inplace_op(index_copy_, index_copy)
inplace_op(masked_scatter_, masked_scatter)
