"""Selection by index along one dimension: index_select takes whole rows, gather one element for each index."""

from math import prod

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport sizes_of
from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT32, INT64, code_of
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.memory cimport sparse_gradient
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node, new_node, record, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.selection_loops cimport (
    ADD, add_rows, all_inside, positions, put_along, take_along, take_rows, zeros)
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import stack


cdef Tensor index_argument(object index, str operation, str expected):
    if not isinstance(index, Tensor):
        raise TypeError(f"{operation}(): argument 'index' (position 3) must be Tensor, not {type(index).__name__}")
    if code_of((<Tensor> index).array) not in (INT32, INT64):
        raise RuntimeError(f"{operation}(): Expected dtype {expected} for index")
    return <Tensor> index


cdef tuple at_least_1d(tuple sizes):
    return sizes or (1,)


# whole rows

cdef class Selecting(Node):
    cdef tuple saved_names(self):
        return ("index", None, None)

    cdef tuple constant_names(self):
        return ("dim", "self_sym_sizes")


@cython.final
cdef class IndexSelectBackward0(Selecting):
    cdef object vjp_array(self, object g, int i, Request *request):
        return add_selected(<cnp.ndarray> g, self.constants[0], saved_array(self, 0), self.constants[1])

    cdef object vjp(self, object g, int i):
        return index_add(g, self.constants[0], unpack(self, 0), self.constants[1])

    cdef object jvp(self, tuple tangents):
        return index_select(tangents[0], self.constants[0], unpack(self, 0))


@cython.final
cdef class IndexAddBackward0(Selecting):
    cdef object vjp(self, object g, int i):
        return index_select(g, self.constants[0], unpack(self, 0))

    cdef object jvp(self, tuple tangents):
        return index_add(tangents[0], self.constants[0], unpack(self, 0), self.constants[1])


def batched_index_select(call, input, dim, index):
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    cdef object x, numbers
    if not call.is_batched(index) and rank:
        return call(call.value(input), d + 1, index)
    x, numbers = call.front(input), call.front(index)
    if rank == 0:
        return x.unsqueeze(1).gather(1, numbers.reshape(call.size, index.numel())).reshape(call.size)
    numbers = numbers.reshape(call.size, *(1,) * d, index.numel(), *(1,) * (rank - 1 - d))
    sizes = tuple(x.shape)
    return x.gather(d + 1, numbers.expand(sizes[:d + 1] + (index.numel(),) + sizes[d + 2:]))


@op(methods=("index_select",), batch=batched_index_select)
def index_select(input, dim, index):
    """index_select(input, dim, index) -> Tensor: a copy of the rows along `dim` listed in a vector of indices.

    IndexError for a number that is negative or too large.

    >>> import autograd_cy as ag
    >>> ag.index_select(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, ag.tensor([1, 1]))
    tensor([[2., 2.],
            [4., 4.]])
    """
    cdef Tensor x = as_tensor(input, "index_select")
    cdef Tensor i = index_argument(index, "index_select", "int32 or int64")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    cdef tuple sizes = shape_of(x)
    if cnp.PyArray_NDIM(i.array) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not sizes and cnp.PyArray_SIZE(i.array) != 1:
        raise RuntimeError("index_select(): Index to scalar can have only 1 value, got "
                           f"{cnp.PyArray_SIZE(i.array)} value(s)")
    if not all_inside(i.array, at_least_1d(sizes)[d]):
        raise IndexError("index out of range in self")
    array = take_rows(x.array.reshape(at_least_1d(sizes)), d, i.array.reshape(-1))
    return enter(IndexSelectBackward0, d, i, sizes, x, array if sizes else array.reshape(()))


cdef Tensor index_add(Tensor g, int dim, Tensor index, tuple sizes):
    """Zeros of those sizes, with `g` added at the index along `dim`: the transpose of index_select."""
    if g.batched:
        return (<object> zeros_as(g, sizes)).index_add(dim, index, g)
    return enter(IndexAddBackward0, dim, index, sizes, g, add_selected(g.array, dim, index.array, sizes))


cdef cnp.ndarray add_selected(cnp.ndarray g, int dim, cnp.ndarray index, tuple sizes):
    return add_rows(g, sizes, prod(sizes[:dim]), at_least_1d(sizes)[dim], index)


cdef Tensor enter(object node_class, int dim, Tensor index, tuple sizes, Tensor x, cnp.ndarray array):
    cdef Tensor y = new_tensor(array)
    cdef Node node
    if needs_node(x):
        node = new_node(node_class, (dim, sizes))
        save_input(node, 0, index)
        record(node, y, x)
    return y


# single elements

@cython.final
cdef class GatherBackward0(Node):
    cdef tuple saved_names(self):
        return ("self", "index", None)

    cdef tuple constant_names(self):
        return ("dim", "sparse_grad")

    cdef object vjp_array(self, object g, int i, Request *request):
        if self.constants[1]:
            return self.sparse(new_tensor(<cnp.ndarray> g))
        return add_gathered(<cnp.ndarray> g, self.constants[0], saved_array(self, 1), self.constants[2])

    cdef object vjp(self, object g, int i):
        return self.sparse(g) if self.constants[1] else scatter_add(g, self.constants[0], unpack(self, 1), self.constants[2])

    cdef object sparse(self, object g):
        """The gradient as a sparse tensor, with a place for each element of the index."""
        cdef object index = unpack(self, 1), sizes = self.constants[2]
        return sparse_gradient(all_places(index, self.constants[0])[:len(sizes)], g.reshape(-1), sizes)

    cdef object jvp(self, tuple tangents):
        return gather(tangents[0], self.constants[0], unpack(self, 1))


@cython.final
cdef class ScatterAddBackward0(Selecting):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp(self, object g, int i):
        return gather(g, self.constants[0], unpack(self, 0))

    cdef object jvp(self, tuple tangents):
        return scatter_add(tangents[0], self.constants[0], unpack(self, 0), self.constants[1])


cdef object all_places(object index, int dim):
    """The coordinates of each element of an index: its value along `dim`, its own place along others; (dimensions, m)."""
    cdef tuple sizes = tuple(index.shape) or (1,)
    cdef list rows = [new_tensor(row) for row in np.indices(sizes).reshape(len(sizes), -1)]
    rows[dim] = index.reshape(-1).long()
    return stack(rows)


def batched_gather(call, input, dim, index, *, sparse_grad=False):
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    if rank == 0 and rank_of(index) <= 1:
        x, i = call.front(input).unsqueeze(1), call.front(index)
        return call(x, 1, i.reshape(call.size, index.numel()), sparse_grad=sparse_grad).reshape(call.size, *index.shape)
    if index.numel() == 0:              # of any rank
        return call.front(input).reshape(call.size, input.numel())[:, :0].reshape(call.size, *index.shape)
    if rank == 1 and rank_of(index) == 0:
        return call(call.front(input), 1, call.vectors(index), sparse_grad=sparse_grad).squeeze(1)
    if rank != rank_of(index):
        call.on_sample(input, dim, index)           # raises the error
    return call(call.front(input), d + 1, call.front(index), sparse_grad=sparse_grad)


@op(methods=("gather",), batch=batched_gather)
def gather(input, dim, index, *, sparse_grad=False):
    """gather(input, dim, index, *, sparse_grad=False) -> Tensor: y[i][j] = input[index[i][j]][j] for dim 0, and so on.

    `index` has as many dimensions as `input` and the result's shape; apart from `dim` it may be smaller than the input.
    With sparse_grad=True its gradient is a sparse tensor.

    >>> import autograd_cy as ag
    >>> ag.gather(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, ag.tensor([[0, 0], [1, 0]]))
    tensor([[1., 1.],
            [4., 3.]])
    """
    cdef Tensor x = as_tensor(input, "gather")
    cdef Tensor i = index_argument(index, "gather", "int32/int64"), y
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    cdef tuple sizes = shape_of(x)
    cdef Node node
    check_sizes(i.array, d, sizes)
    y = new_tensor(gathered(x.array.reshape(at_least_1d(sizes)), d, i.array))
    if needs_node(x):
        node = new_node(GatherBackward0, (d, bool(sparse_grad), sizes))
        save_input(node, 0, x)
        save_input(node, 1, i)
        record(node, y, x)
    return y


cdef int check_sizes(cnp.ndarray index, int dim, tuple sizes) except -1:
    cdef tuple wanted = sizes_of(index)
    if cnp.PyArray_SIZE(index) == 0:
        return 0
    if len(at_least_1d(wanted)) != len(at_least_1d(sizes)):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d, (n, size) in enumerate(zip(wanted, sizes)):
        if n > size and d != dim:
            raise RuntimeError(f"Size does not match at dimension {d} expected index {list(wanted)} to be no larger "
                               f"than self {list(sizes)} apart from dimension {dim}")
    return 0


cdef cnp.ndarray gathered(cnp.ndarray array, int dim, cnp.ndarray index):
    if cnp.PyArray_SIZE(index) == 0:
        return zeros(sizes_of(index), code_of(array))
    try:
        taken = take_along(array, dim, index)
    except IndexError:
        taken = None                            # explained below
    if taken is not None:
        return taken
    places = index_places(index, dim, cnp.PyArray_DIM(array, dim))
    return take_rows(array[reach(index, dim)].reshape(-1), 0, places)


cdef tuple reach(cnp.ndarray index, int dim):
    """The part of the input that an index can reach: all of it unless the index is smaller in dimensions other than `dim`."""
    cdef int d
    cdef tuple wanted = sizes_of(index)
    return tuple([slice(None) if d == dim else slice(wanted[d]) for d in range(len(wanted))])


cdef int check_numbers(cnp.ndarray index, int dim, Py_ssize_t size) except -1:
    if not all_inside(index, size):
        wrong = index[(index < 0) | (index >= size)][0]
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")
    return 0


cdef cnp.ndarray index_places(cnp.ndarray index, int dim, Py_ssize_t size):
    places = positions(index if cnp.PyArray_NDIM(index) else index.reshape(1), dim, size)
    if places is None:
        check_numbers(index, dim, size)
    return places.reshape(sizes_of(index))


cdef Tensor scatter_add(Tensor g, int dim, Tensor index, tuple sizes):
    """Zeros of those sizes, with each element of `g` added where gather() took it: the transpose of gather."""
    if g.batched:
        return (<object> zeros_as(g, sizes)).scatter_add(dim, index, g)
    return enter(ScatterAddBackward0, dim, index, sizes, g, add_gathered(g.array, dim, index.array, sizes))


cdef cnp.ndarray add_gathered(cnp.ndarray g, int dim, cnp.ndarray index, tuple sizes):
    cdef cnp.ndarray whole
    if cnp.PyArray_SIZE(index) == 0:
        return zeros(sizes, code_of(g))
    cdef Py_ssize_t size = at_least_1d(sizes)[dim]
    if code_of(g) >= FLOAT32 and sizes:
        whole = zeros(sizes, code_of(g))
        if put_along(whole, dim, index, g, ADD):
            return whole
    cdef tuple part = (*sizes_of(index)[:dim], size, *sizes_of(index)[dim + 1:])
    places = index_places(index, dim, size)
    if part == sizes or not sizes:
        return add_rows(g, sizes, 1, prod(sizes), places)
    whole = zeros(sizes, code_of(g))
    whole[reach(index, dim)] = add_rows(g, part, 1, prod(part), places)
    return whole
