"""Elements combined with existing ones, by index along one dimension: scatter_reduce, index_reduce."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast, dense_copy, sizes_of
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, FLOAT32, INT32, INT64, code_of, is_half
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport (
    any_wanted, as_tensor, needs_node, new_node, record, record_all, shape_of, tensor_argument, wrap_dim)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.selection_loops cimport ADD, LARGER, MULTIPLY, PUT, SMALLER, all_inside, put_along
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport check_apart

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import writes
from autograd_cy._core.ops.registry import inplace_op, op
from autograd_cy._core.ops.shapes.joining import constant_pad_nd

REDUCTIONS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
WAYS = {"sum": ADD, "mean": ADD, "prod": MULTIPLY, "amax": LARGER, "amin": SMALLER}     # of the loops


cdef object neutral(str reduce, cnp.ndarray array):
    """The identity of a reduction."""
    kind = array.dtype
    if reduce in ("sum", "mean", "prod"):
        return reduce == "prod"
    if code_of(array) == BOOL:
        return reduce == "amin"
    if code_of(array) >= FLOAT16:
        return np.inf if reduce == "amin" else -np.inf
    return np.iinfo(kind).max if reduce == "amin" else np.iinfo(kind).min


cdef int combine(cnp.ndarray target, tuple places, object values, str reduce, bint include_self) except -1:
    """Combine the values with the elements in those places, in place. For the mean, sums are divided by their counts.

    16-bit types are combined in float32.
    """
    cdef cnp.ndarray wide
    if is_half(code_of(target)):
        wide = cast(target, FLOAT32)
        combine(wide, places, np.asarray(values, np.float32), reduce, include_self)
        cnp.PyArray_CopyInto(target, cast(wide, code_of(target)))
        return 0
    if not include_self:
        target[places] = neutral(reduce, target)
    REDUCTIONS[reduce].at(target, places, values)
    if reduce == "mean":
        count = np.ones(sizes_of(target), np.int64)
        if not include_self:
            count[places] = 0
        np.add.at(count, places, 1)
        divide(target, count)
    return 0


cdef int divide(cnp.ndarray target, object count) except -1:
    """Divide sums by their counts, in place."""
    count = np.maximum(count, 1)
    if code_of(target) < FLOAT16:
        target[...] = target // count
    else:
        target /= count.astype(target.real.dtype)
    return 0


cdef bint combined_along(cnp.ndarray target, int dim, cnp.ndarray index, object values, str reduce,
                         bint include_self) except -1:
    """Like `combine` with our own loops, for single elements along a dimension; False if the loops can't do it."""
    cdef cnp.ndarray whole = target
    if not include_self:
        target = target.copy()
        if not put_along(target, dim, index, neutral(reduce, target), PUT):
            return False
    if not put_along(target, dim, index, values, WAYS[reduce]):
        return False
    if reduce == "mean":
        count = np.ones(sizes_of(target), np.int64)
        if not include_self:
            put_along(count, dim, index, 0, PUT)
        put_along(count, dim, index, 1, ADD)
        divide(target, count)
    if whole is not target:
        whole[...] = target
    return True


cdef class Reducing(Node):
    """The common part of both gradients; constants: dim, reduce, include_self."""

    cdef tuple constant_names(self):
        return ("dim", "reduce", "include_self")

    cdef object picked(self, object x):
        """The elements that the sources are combined with."""

    cdef object added(self, object x, object values):
        """Values added where the sources go."""

    cdef object emptied(self, object x):
        """Zeros where the sources go."""

    cdef object again(self, object x, object src):
        """The operation with other operands."""

    cdef object vjp(self, object g, int i):
        reduce, include_self = self.constants[1], self.constants[2]
        if reduce == "sum":
            slope = self.picked(g) if i else g
        elif reduce == "mean":
            slope = self.slope_of_mean(g, i)
        elif reduce == "prod":
            slope = self.slope_of_product(g, i)
        else:
            slope = self.slope_of_extreme(g, i)
        if i:
            return self.in_place_of(slope)
        return slope if include_self else self.emptied(slope)

    cdef object slope_of_mean(self, object g, int i):
        own, src = self.operands()
        count = own.detach().new_ones(own.shape) if self.constants[2] else own.detach().new_zeros(own.shape)
        count = self.added(count, src.detach().new_ones(src.shape))
        g = g / count.masked_fill(count == 0, 1)
        return self.picked(g) if i else g

    cdef object slope_of_product(self, object g, int i):
        """A factor of 0 is replaced: the product of the others is its slope."""
        own, src = self.operands()
        if i == 0:
            ones = own.masked_fill(own == 0, 1)
            return g * (self.again(ones, src) / ones).conj()
        zero = src == 0
        zeros = self.picked(self.added(own.detach().new_zeros(own.shape), zero.to(own.dtype)))
        alone = zero.logical_and(zeros == 1)
        if needs_node(src) and not (<Tensor> zeros).batched and ((zeros != 0) & (zeros != 1)).any():
            name = "index_reduce" if isinstance(self, IndexReduceBackward0) else "scatter_reduce"
            src = record(new_node(SeveralZeros, (name, self.saved_names()[1])), new_tensor((<Tensor> src).array), src)
        others = self.picked(g * self.again(own, src.masked_fill(alone, 1)).conj())
        return others.where(alone, self.picked(g * self.again(own, src).conj()) / src.masked_fill(zero, 1).conj())

    cdef object slope_of_extreme(self, object g, int i):
        """Equal elements share the gradient."""
        own, src = self.operands()
        result = self.again(own, src).detach()
        is_own, is_src = (own == result).to(own.dtype), (src == self.picked(result)).to(own.dtype)
        shared = g / self.added(is_own, is_src)
        return is_src * self.picked(shared) if i else is_own * shared

    cdef object in_place_of(self, object slope):
        """The gradient of the used part of the sources, embedded in zeros for all of them."""
        return slope

    cdef tuple operands(self):
        return unpack(self, 0), unpack(self, 1)


@cython.final
cdef class SeveralZeros(Node):
    """Raises in double backward if two zeros meet in one element: `slope_of_product` lacks that second derivative."""

    cdef object vjp(self, object g, int i):
        operation, source = self.constants
        raise RuntimeError(f"{operation}(): Double backward is unsupported for {source} when >1 zeros in {source} are "
                           "scattered to the same position in self")


@cython.final
cdef class ScatterReduceBackward0(Reducing):
    """The index may be smaller than the source: only the source's part within its shape is used."""

    cdef object in_place_of(self, object slope):
        sizes = self.constants[3]
        widths = [n for size, own in zip(reversed(sizes), reversed(slope.shape)) for n in (0, size - own)]
        return constant_pad_nd(slope, widths) if any(widths) else slope

    cdef tuple operands(self):
        own, src = unpack(self, 0), unpack(self, 1)
        reached = unpack(self, 2).shape
        return own, src if tuple(src.shape) == tuple(reached) else src[tuple([slice(n) for n in reached])]

    cdef tuple saved_names(self):
        return ("self", "src", "index")

    cdef object picked(self, object x):
        return x.gather(self.constants[0], unpack(self, 2))

    cdef object added(self, object x, object values):
        return x.scatter_add(self.constants[0], unpack(self, 2), values)

    cdef object emptied(self, object x):
        return x.scatter(self.constants[0], unpack(self, 2), 0)

    cdef object again(self, object x, object src):
        return scatter_reduce(x, self.constants[0], unpack(self, 2), src, self.constants[1], include_self=self.constants[2])


@cython.final
cdef class IndexReduceBackward0(Reducing):
    cdef tuple saved_names(self):
        return ("self", "source", "index")

    cdef object picked(self, object x):
        return x.index_select(self.constants[0], unpack(self, 2)).reshape(self.constants[3])

    cdef object added(self, object x, object values):
        return x.index_add(self.constants[0], unpack(self, 2), values)

    cdef object emptied(self, object x):
        return x.index_fill(self.constants[0], unpack(self, 2), 0)

    cdef object again(self, object x, object src):
        return index_reduce(x, self.constants[0], unpack(self, 2), src, self.constants[1], include_self=self.constants[2])


cdef Tensor record_reduced(object node_class, tuple constants, Tensor x, Tensor src, Tensor index, cnp.ndarray array):
    cdef Tensor y = new_tensor(array)
    cdef Node node
    if any_wanted((x, src)):
        node = new_node(node_class, constants)
        save_input(node, 0, x)
        save_input(node, 1, src)
        save_input(node, 2, index)
        record_all(node, y, (x, src))
    return y


cdef int check_operands(str operation, Tensor x, Tensor index, Tensor src, str reduce, tuple allowed) except -1:
    if reduce not in allowed:
        raise RuntimeError(f"{operation}(): Expected reduce to be one of {', '.join(allowed)} but got {reduce}.")
    if code_of(x.array) >= COMPLEX64 and reduce in ("amax", "amin"):
        raise RuntimeError(f"{operation}(): complex numbers have no {reduce}")
    if code_of(index.array) not in (INT32, INT64):
        raise RuntimeError(f"{operation}(): Expected dtype int32/int64 for index")
    if code_of(x.array) != code_of(src.array):
        raise RuntimeError(f"{operation}(): Expected self.dtype to be equal to src.dtype")
    return 0


cdef int check_reduced(str operation, cnp.ndarray numbers, Py_ssize_t size) except -1:
    if not all_inside(numbers, size):
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise (IndexError if operation == "index_reduce" else RuntimeError)(
            f"{operation}(): index {wrong} is out of bounds for dimension with size {size}")
    return 0


cdef object given(object call, object input):
    """All samples of the tensor; a copy if the result will overwrite them, as they are saved."""
    return call.front(input).clone() if writes(call.function) else call.front(input)


def batched_scatter_reduce(call, input, dim, index, src, reduce, *, include_self=True):
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    cdef object x = given(call, input), i = call.front(index), s = call.front(src)
    if rank == 0:
        x, i, s = x.unsqueeze(1), i.reshape(call.size, index.numel()), s.reshape(call.size, src.numel())
        d = 0
    elif rank == 1:
        i, s = call.vectors(index), call.vectors(src)
    y = scatter_reduce(x, d + 1, i, s, reduce, include_self=include_self)
    return y.reshape(call.size) if rank == 0 else y


@op(methods=("scatter_reduce",), batch=batched_scatter_reduce)
def scatter_reduce(input, dim, index, src, reduce: str, *, include_self: bool = True):
    """scatter_reduce(input, dim, index, src, reduce, *, include_self=True) -> Tensor: a copy with values combined.

    For dim 0, src[i][j] is combined with y[index[i][j]][j], and so on. `reduce` is "sum", "prod", "mean", "amax" or "amin".
    Without include_self the existing elements don't count.

    >>> import autograd_cy as ag
    >>> ag.scatter_reduce(ag.ones(2), 0, ag.tensor([0, 0, 1]), ag.tensor([1.0, 2.0, 3.0]), "sum")
    tensor([4., 4.])
    """
    cdef Tensor x = as_tensor(input, "scatter_reduce"), i = tensor_argument(index, "scatter_reduce", "index", 3)
    cdef Tensor s = tensor_argument(src, "scatter_reduce", "src", 4)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array)), axis
    check_operands("scatter_reduce", x, i, s, reduce, ("sum", "prod", "mean", "amax", "amin"))
    array = dense_copy(x.array)
    target = array if array.ndim else array.reshape(1)
    numbers = np.atleast_1d(i.array)
    values = np.atleast_1d(s.array)
    if numbers.size:
        if numbers.ndim != target.ndim or values.ndim != target.ndim:
            raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
        for axis in range(target.ndim):
            if numbers.shape[axis] > values.shape[axis] or (axis != d and numbers.shape[axis] > target.shape[axis]):
                raise RuntimeError(f"Expected index {list(shape_of(i))} to be no larger than self {list(shape_of(x))} apart "
                                   f"from dimension {d} and to be no larger size than src {list(shape_of(s))}")
        check_reduced("scatter_reduce", numbers, target.shape[d])
        values = values[tuple([slice(n) for n in numbers.shape])]
        if not combined_along(target, d, numbers, values, reduce, include_self):
            places = list(np.ogrid[tuple([slice(n) for n in numbers.shape])])
            places[d] = numbers
            combine(target, tuple(places), values, reduce, include_self)
    return record_reduced(ScatterReduceBackward0, (d, reduce, include_self, shape_of(s)), x, s, i, array)


def batched_index_reduce(call, input, dim, index, source, reduce, *, include_self=True):
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    cdef object x = given(call, input), s = call.vectors(source)
    if rank == 0:
        x, s, rank, d = x.unsqueeze(1), s.reshape(call.size, source.numel()), 1, 0
    if index.numel() != s.shape[d + 1]:
        call.on_sample(input, dim, index, source, reduce)       # raises the error
    numbers = call.front(index).reshape(call.size, *(1,) * d, index.numel(), *(1,) * (rank - 1 - d)).expand(s.shape)
    y = scatter_reduce(x, d + 1, numbers, s, reduce, include_self=include_self)
    return y.reshape(call.size) if rank_of(input) == 0 else y


@op(methods=("index_reduce",), batch=batched_index_reduce)
def index_reduce(input, dim, index, source, reduce: str, *, include_self: bool = True):
    """index_reduce(input, dim, index, source, reduce, *, include_self=True) -> Tensor: a copy with rows combined.

    Row index[i] along `dim` is combined with source[i]; `reduce` is "prod", "mean", "amax" or "amin". Without include_self
    the existing rows don't count.

    >>> import autograd_cy as ag
    >>> ag.index_reduce(ag.tensor([1.0, 2.0]), 0, ag.tensor([1, 1]), ag.tensor([3.0, 4.0]), "prod")
    tensor([ 1., 24.])
    """
    cdef Tensor x = as_tensor(input, "index_reduce"), i = tensor_argument(index, "index_reduce", "index", 3)
    cdef Tensor s = tensor_argument(source, "index_reduce", "source", 4)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    if code_of(x.array) >= COMPLEX64:
        raise NotImplementedError("index_reduce() is not there for complex numbers")
    check_operands("index_reduce", x, i, s, reduce, ("prod", "mean", "amax", "amin"))
    if cnp.PyArray_NDIM(i.array) > 1:
        raise IndexError("index_reduce_(): Index is supposed to be a vector, but got dim: "
                         f"{cnp.PyArray_NDIM(i.array)} with type: {i.dtype} and size: {list(shape_of(i))}")
    array = dense_copy(x.array)
    target = array if array.ndim else array.reshape(1)
    values, numbers = np.atleast_1d(s.array), i.array.reshape(-1)
    if np.shape(values) != target.shape[:d] + numbers.shape + target.shape[d + 1:]:
        raise RuntimeError(f"index_reduce_(): Number of indices ({len(numbers)}) and the source's shape {list(shape_of(s))} "
                           f"must fit: expected {list(target.shape[:d] + numbers.shape + target.shape[d + 1:])}")
    check_reduced("index_reduce", numbers, target.shape[d])
    combine(target, (slice(None),) * d + (numbers,), values, reduce, include_self)
    return record_reduced(IndexReduceBackward0, (d, reduce, include_self, shape_of(s)), x, s, i, array)


def scatter_reduce_(Tensor self, dim, index, src, reduce: str, *, include_self: bool = True):
    """scatter_reduce_(dim, index, src, reduce, *, include_self=True) -> Tensor: scatter_reduce() in place."""
    check_apart(self, (index, src))
    return in_place("scatter_reduce_", lambda x, *others: scatter_reduce(x, *others, include_self=include_self), self,
                    (dim, index, src, reduce))


def index_reduce_(Tensor self, dim, index, source, reduce: str, *, include_self: bool = True):
    """index_reduce_(dim, index, source, reduce, *, include_self=True) -> Tensor: index_reduce() in place."""
    check_apart(self, (index, source))
    return in_place("index_reduce_", lambda x, *others: index_reduce(x, *others, include_self=include_self), self,
                    (dim, index, source, reduce))


inplace_op(scatter_reduce_, scatter_reduce)
inplace_op(index_reduce_, index_reduce)
