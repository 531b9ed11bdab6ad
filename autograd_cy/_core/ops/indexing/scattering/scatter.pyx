"""Elements replaced or added to, by index along one dimension; each operation also in place."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast, dense_copy, fitting, forget_rows, sizes_of
from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT32, INT64, code_of, is_half
from autograd_cy._core.graph.memory cimport is_sparse, prepare_write
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport (
    as_tensor, needs_node, new_node, number_code, record_all, shape_of, tensor_argument, wrap_dim)
from autograd_cy._core.graph.tensor cimport Tensor, count_write, new_tensor
from autograd_cy._core.kernels.selection_loops cimport ADD, PUT, add_at, all_inside, put_along
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NO_GRAD, check_write, current_mode
from autograd_cy._core.writes.inplace cimport check_apart

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import writes
from autograd_cy._core.ops.registry import inplace_op, op


# whole rows

cdef class Scattering(Node):
    cdef tuple saved_names(self):
        return ("index", None, None)

    cdef tuple constant_names(self):
        return ("dim",)


@cython.final
cdef class IndexAddBackward0(Scattering):
    cdef tuple saved_names(self):
        return ("index", "source", None)

    cdef tuple constant_names(self):
        return ("dim", "alpha", None, "source_dim")

    cdef object vjp(self, object g, int i):
        if i == 0:
            return g
        dim, alpha, sizes, _ = self.constants
        g = g.index_select(dim, unpack(self, 0)).reshape(sizes)
        return g if alpha == 1 else g * alpha


def batched_index_add(call, input, dim, index, source, *, alpha=1):
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    cdef object x = call.value(input) if call.function is not index_add else call.front(input)
    cdef object s = call.vectors(source)
    if rank == 0:
        x, s, d, rank = x.unsqueeze(1), s.reshape(call.size, source.numel()), 0, 1
    if not call.is_batched(index):
        y = call(x, d + 1, index, s, alpha=alpha)
    else:
        if index.numel() != s.shape[d + 1]:
            call.on_sample(input, dim, index, source)           # raises the error
        numbers = call.front(index).reshape(call.size, *(1,) * d, index.numel(), *(1,) * (rank - 1 - d)).expand(s.shape)
        y = (x.scatter_add if call.function is index_add else x.scatter_add_)(d + 1, numbers, s if alpha == 1 else s * alpha)
    return y.reshape(call.size) if rank_of(input) == 0 else y


@op(methods=("index_add",), batch=batched_index_add)
def index_add(input, dim, index, source, *, alpha=1):
    """index_add(input, dim, index, source, *, alpha=1) -> Tensor: a copy with alpha * source[i] added to row index[i].

    Rows are counted along `dim`; several sources for one row are all added.

    >>> import autograd_cy as ag
    >>> ag.index_add(ag.zeros(3), 0, ag.tensor([0, 2, 0]), ag.tensor([1.0, 2.0, 3.0]))
    tensor([4., 0., 2.])
    """
    cdef Tensor x = as_tensor(input, "index_add"), i = number_tensor(index, "index_add", 3)
    cdef Tensor s = tensor_argument(source, "index_add", "source", 4)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    check_types("index_add", "self and source", x, s)
    if cnp.PyArray_NDIM(i.array) > 1:
        raise IndexError("index_add_(): Index is supposed to be a vector, but got dim: "
                         f"{cnp.PyArray_NDIM(i.array)} with type: Long and size: {list(sizes_of(i.array))}")
    array = dense_copy(x.array)
    rows, values = i.array.reshape(-1), s.array
    target = array if array.ndim else array.reshape(1)
    values = values if values.ndim else values.reshape(1)
    wanted = target.shape[:d] + rows.shape + target.shape[d + 1:]
    if np.shape(values) != wanted:
        raise RuntimeError(f"index_add_(): Number of indices ({len(rows)}) and the source's shape {list(np.shape(s.array))} "
                           f"must fit: expected {list(wanted)}")
    check_scattered(rows, target.shape[d], "index out of range in self")
    add_at(target, (slice(None),) * d + (rows,), values if alpha == 1 else values * fitting(alpha, code_of(s.array)))
    return record_scattered(IndexAddBackward0, (d, alpha, shape_of(s), cnp.PyArray_NDIM(s.array)), x, i, s, array, True)


def add_to_rows(Tensor target, cnp.ndarray rows, cnp.ndarray values):
    """add_to_rows(target, rows, values) -> bool: add values to distinct rows of a tensor in place.

    False if nothing was done: under any mode but no_grad(), for other types, for tensors that are not contiguous.
    """
    cdef cnp.ndarray array = target.array, whole
    if (current_mode() != NO_GRAD or target.batched or is_sparse(target) or code_of(array) != code_of(values)
            or not cnp.PyArray_ISCARRAY(array)):
        return False
    check_write(target.inference, "add_")
    prepare_write(array, "add_")
    whole = (<object> array).reshape((-1,) + np.shape(values)[1:])
    forget_rows(array)
    whole[rows] += values
    count_write(target, "add_")
    return True


# single elements

cdef object gathered(object g, tuple constants, Tensor index):
    """The gradient for a source: the elements at the index, or zeros of the source's sizes if the index is empty."""
    if cnp.PyArray_SIZE(index.array) == 0:
        return new_tensor(np.zeros(constants[1], (<Tensor> g).array.dtype))
    return g.gather(constants[0], index)


@cython.final
cdef class ScatterAddBackward0(Scattering):
    cdef object vjp(self, object g, int i):
        return g if i == 0 else gathered(g, <tuple> self.constants, unpack(self, 0))


@cython.final
cdef class ScatterBackward0(Scattering):
    cdef object vjp(self, object g, int i):
        dim, index = self.constants[0], unpack(self, 0)
        return scatter(g, dim, index, 0) if i == 0 else gathered(g, <tuple> self.constants, index)

    cdef object jvp(self, tuple tangents):
        """If a place is written several times, the last source counts. Gradients ignore that."""
        t, source = tangents
        if t is None:
            t = new_tensor(np.zeros(self.constants[2], (<Tensor> source).array.dtype))
        return scatter(t, self.constants[0], unpack(self, 0), 0 if source is None else source)


@cython.final
cdef class ScatterBackward1(Scattering):
    """The source is a number."""

    cdef object vjp(self, object g, int i):
        return scatter(g, self.constants[0], unpack(self, 0), 0)


def batched_scatter(call, input, dim, index, src=None, **more):
    """scatter and scatter_add."""
    cdef int rank = rank_of(input), d = wrap_dim(dim, rank)
    cdef object x = call.value(input) if writes(call.function) else call.front(input), i = call.front(index)
    value = more.get("value")
    if isinstance(value, Tensor):
        more["value"] = call.front(value)
    if rank == 0:
        x, i, d = x.unsqueeze(1), i.reshape(call.size, index.numel()), 0
        src = call.front(src).reshape(call.size, src.numel()) if isinstance(src, Tensor) else src
    elif rank == 1:
        i, src = call.vectors(index), call.vectors(src) if isinstance(src, Tensor) else src
    elif isinstance(src, Tensor):
        src = call.front(src)
    y = call(x, d + 1, i, *(() if src is None else (src,)), **more)
    return y.reshape(call.size) if rank == 0 else y


@op(methods=("scatter",), batch=batched_scatter)
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """scatter(input, dim, index, src, *, reduce=None) -> Tensor: a copy with y[index[i][j]][j] = src[i][j] for dim 0, etc.

    `src` is a tensor that is nowhere smaller than `index`, or a number. If a place is written several times, the last source
    counts; the gradient ignores that. With reduce="add" or "multiply" each source is added to the element, or multiplies it,
    as in scatter_reduce().

    >>> import autograd_cy as ag
    >>> ag.scatter(ag.zeros(3), 0, ag.tensor([2, 0]), ag.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """
    cdef Tensor x = as_tensor(input, "scatter"), i = number_tensor(index, "scatter", 3), s
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    cdef object given = value if src is None else src
    if reduce is not None:
        return reduced(x, d, i, given, reduce)
    array = dense_copy(x.array)
    if not isinstance(given, Tensor):
        if given is None:
            raise TypeError("scatter() missing 1 required positional argument: 'src'")
        scattered(array, d, i.array, source_array(given, x), False)
        return record_scattered(ScatterBackward1, (d,), x, i, None, array)
    s = <Tensor> given
    check_types("scatter", "self and src", x, s)
    scattered(array, d, i.array, s.array, False)
    return record_scattered(ScatterBackward0, (d, shape_of(s), shape_of(x)), x, i, s, array)


cdef object reduced(Tensor x, int dim, Tensor index, object given, object reduce):
    """scatter() with `reduce`."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if given is None:
        raise TypeError("scatter() missing 1 required positional argument: 'src'")
    if not isinstance(given, Tensor):
        given = new_tensor(np.broadcast_to(source_array(given, x), np.shape(index.array)).astype(x.array.dtype))
    check_types("scatter", "self and src", x, <Tensor> given)
    return (<object> x).scatter_reduce(dim, index, given, "sum" if reduce == "add" else "prod")


@op(methods=("scatter_add",), batch=batched_scatter)
def scatter_add(input, dim, index, src):
    """scatter_add(input, dim, index, src) -> Tensor: a copy with y[index[i][j]][j] += src[i][j] for dim 0, and so on.

    >>> import autograd_cy as ag
    >>> ag.scatter_add(ag.ones(3), 0, ag.tensor([0, 0, 2]), ag.tensor([1.0, 2.0, 3.0]))
    tensor([4., 1., 4.])
    """
    cdef Tensor x = as_tensor(input, "scatter_add"), i = number_tensor(index, "scatter_add", 3)
    cdef Tensor s = tensor_argument(src, "scatter_add", "src", 4)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    check_types("scatter_add", "self and src", x, s)
    array = dense_copy(x.array)
    scattered(array, d, i.array, s.array, True)
    return record_scattered(ScatterAddBackward0, (d, shape_of(s)), x, i, s, array)


cdef int scattered(cnp.ndarray array, int dim, cnp.ndarray index, cnp.ndarray source, bint added) except -1:
    """Write or add the source to the elements at the index, in place. 16-bit types are summed in float32."""
    cdef int axis
    cdef cnp.ndarray wide
    if cnp.PyArray_SIZE(index) == 0:
        return 0
    if added and is_half(code_of(array)):
        wide = cast(array, FLOAT32)
        scattered(wide, dim, index, cast(source, FLOAT32), True)
        cnp.PyArray_CopyInto(array, cast(wide, code_of(array)))
        return 0
    target = array if array.ndim else array.reshape(1)
    index = index if index.ndim else index.reshape(1)
    source = source if source.ndim or not cnp.PyArray_NDIM(index) else np.broadcast_to(source, sizes_of(index))
    if index.ndim != target.ndim or source.ndim != index.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor and src tensor")
    for axis in range(index.ndim):
        if (index.shape[axis] > source.shape[axis]) or (axis != dim and index.shape[axis] > target.shape[axis]):
            raise RuntimeError(f"Expected index {list(sizes_of(index))} to be no larger than self {list(np.shape(target))} "
                               f"apart from dimension {dim} and to be no larger size than src {list(sizes_of(source))}")
    try:
        if put_along(target, dim, index, within(source, index), ADD if added else PUT):
            return 0
    except IndexError:
        pass                                    # explained below
    check_scattered(index, target.shape[dim], f"index is out of bounds for dimension {dim} with size {target.shape[dim]}")
    places = list(np.ogrid[tuple([slice(n) for n in sizes_of(index)])])
    places[dim] = index
    if added:
        add_at(target, tuple(places), within(source, index))
    else:
        target[tuple(places)] = within(source, index)
    return 0


cdef object within(object source, cnp.ndarray index):
    """The part of a source that is within the index's shape."""
    cdef tuple sizes = sizes_of(index)
    return source if np.shape(source) == sizes else source[tuple([slice(n) for n in sizes])]


# arguments and results

cdef Tensor number_tensor(object index, str operation, int position):
    cdef Tensor i = tensor_argument(index, operation, "index", position)
    if code_of(i.array) not in (INT32, INT64):
        raise RuntimeError(f"{operation}(): Expected dtype int32/int64 for index")
    return i


cdef cnp.ndarray source_array(object value, Tensor like):
    """A source that is a number, in the input's type."""
    if isinstance(value, np.generic):
        value = value.item()
    if number_code(value) >= 0:
        return fitting(value, code_of(like.array))
    return np.asarray(value, like.array.dtype)


cdef int check_types(str operation, str both, Tensor x, Tensor s) except -1:
    if code_of(x.array) != code_of(s.array):
        raise RuntimeError(f"{operation}(): Expected {both} to have the same dtype, but got {x.dtype} and {s.dtype}")
    return 0


cdef int check_scattered(cnp.ndarray numbers, Py_ssize_t size, str message) except -1:
    if not all_inside(numbers, size):
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise IndexError(f"{message} (index {wrong})") if "self" in message else RuntimeError(f"{message}: {wrong}")
    return 0


cdef Tensor record_scattered(object node_class, tuple constants, Tensor x, Tensor index, Tensor source, cnp.ndarray array,
                             bint shows_source=False):
    cdef Tensor y = new_tensor(array)
    cdef Node node
    if needs_node(x) or (source is not None and needs_node(source)):
        node = new_node(node_class, constants)
        if not shows_source:
            save_input(node, 0, index)
        elif needs_node(source):
            save_input(node, 0, index)
            save_input(node, 1, source)
        record_all(node, y, (x,) if source is None else (x, source))
    return y


# in place

def index_add_(Tensor self, dim, index, source, *, alpha=1):
    """index_add_(dim, index, source, *, alpha=1) -> Tensor: index_add() written into the tensor's own memory."""
    check_apart(self, (index, source))
    return in_place("index_add_", lambda x, *others: index_add(x, *others, alpha=alpha), self, (dim, index, source))


def scatter_(Tensor self, dim, index, src=None, *, value=None, reduce=None):
    """scatter_(dim, index, src) -> Tensor: scatter() written into the tensor's own memory."""
    check_apart(self, (index, src))
    return in_place("scatter_", lambda x, *others: scatter(x, *others, value=value, reduce=reduce), self, (dim, index, src))


def scatter_add_(Tensor self, dim, index, src):
    """scatter_add_(dim, index, src) -> Tensor: scatter_add() written into the tensor's own memory."""
    check_apart(self, (index, src))
    return in_place("scatter_add_", scatter_add, self, (dim, index, src))


inplace_op(index_add_, index_add)
inplace_op(scatter_, scatter)
inplace_op(scatter_add_, scatter_add)
