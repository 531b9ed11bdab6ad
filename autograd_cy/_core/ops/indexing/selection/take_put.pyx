"""Elements read and written by flat index, and by index along one dimension: take, put, take_along_dim."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport copy_in_order, dense_copy
from autograd_cy._core.arrays.dtypes cimport INT64, code_of
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport (
    any_wanted, as_tensor, needs_node, new_node, record, record_all, shape_of, tensor_argument, wrap_dim)
from autograd_cy._core.graph.tensor cimport Tensor, array_of, new_tensor
from autograd_cy._core.kernels.selection_loops cimport add_at, take_rows
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport check_apart

from autograd_cy._core.batching.batched import all_samples, levels_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import inplace_op, op
from autograd_cy._core.ops.shapes.reshaping import broadcast_tensors


cdef Tensor long_index(object index, str operation, int position):
    """An index tensor of int64."""
    cdef Tensor i = tensor_argument(index, operation, "index", position)
    if code_of(i.array) != INT64:
        raise RuntimeError(f"{operation}(): Expected a long tensor for index, but got {i.dtype}")
    return i


cdef object places_in(cnp.ndarray index, Py_ssize_t n, str operation):
    """The flattened indices, negative ones counted from the end; IndexError if one is out of range."""
    places = index.reshape(-1)
    if places.size == 0:
        return places
    if n == 0:
        raise IndexError(f"{operation}(): tried to take from an empty tensor" if operation == "take"
                         else f"{operation}(): index out of range")
    lowest, highest = places.min(), places.max()
    if lowest < -n or highest >= n:
        raise IndexError(f"out of range: tried to access index {lowest if lowest < -n else highest} on a tensor of {n} "
                         "elements.")
    return np.where(places < 0, places + n, places) if lowest < 0 else places


@cython.final
cdef class TakeBackward0(Node):
    cdef tuple saved_names(self):
        return ("self", "index", None)

    cdef object vjp(self, object g, int i):
        index = unpack(self, 1)
        return put(zeros_as(<Tensor> g, self.constants[0]), index, g, True)

    cdef object jvp(self, tuple tangents):
        return take(tangents[0], unpack(self, 1))


cdef object in_order(object call, object x, object like):
    """All samples, and each sample's flat indices shifted to its position among them.

    An index beyond a sample is refused here: shifted, it would be one of another sample.
    """
    cdef object x_all = call.front(x), index = call.front(like)
    cdef Py_ssize_t n = (<Tensor> x).array.size
    places_in(array_of(all_samples(index, levels_of(index))), n, call.function.__name__)
    cdef object first = new_tensor(np.arange(call.size) * n).reshape(call.size, *(1,) * (index.ndim - 1))
    return x_all, (index + n * (index < 0)) + first


def batched_take(call, input, index):
    x, places = in_order(call, input, index)
    return call(x, places)


@op(methods=("take",), batch=batched_take)
def take(input, index):
    """take(input, index) -> Tensor: the elements at those flat indices.

    >>> import autograd_cy as ag
    >>> ag.take(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([0, 3, -1]))
    tensor([1., 4., 4.])
    """
    cdef Tensor x = as_tensor(input, "take"), i = long_index(index, "take", 2), y
    cdef Node node
    places = places_in(i.array, cnp.PyArray_SIZE(x.array), "take")
    y = new_tensor(take_rows(x.array.reshape(-1), 0, places).reshape(shape_of(i)))
    if needs_node(x):
        node = new_node(TakeBackward0, (shape_of(x),))
        save_input(node, 0, x)
        save_input(node, 1, i)
        record(node, y, x)
    return y


@cython.final
cdef class PutBackward0(Node):
    cdef tuple saved_names(self):
        return ("index", "source", None)

    cdef tuple constant_names(self):
        return ("accumulate",)

    cdef object vjp(self, object g, int i):
        accumulate, sizes, _ = self.constants
        index = unpack(self, 0)
        if i:
            return take(g, index).reshape(sizes)
        return g if accumulate else put(g, index, g.new_zeros(sizes), False)

    cdef object jvp(self, tuple tangents):
        t, source = tangents
        accumulate, sizes, whole = self.constants
        t = source.new_zeros(whole) if t is None else t
        return put(t, unpack(self, 0), t.new_zeros(sizes) if source is None else source, accumulate)


def batched_put(call, input, index, source, accumulate=False):
    x, places = in_order(call, input, index)
    return call(x, places, call.front(source), accumulate)


@op(methods=("put",), batch=batched_put)
def put(input, index, source, accumulate=False):
    """put(input, index, source, accumulate=False) -> Tensor: a copy with the elements at those indices replaced, or added to.

    Indices count the flattened elements; the index and `source` have the same number of elements.

    >>> import autograd_cy as ag
    >>> ag.put(ag.zeros(2, 2), ag.tensor([0, 3]), ag.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    cdef Tensor x = as_tensor(input, "put"), i = long_index(index, "put_", 2), y
    cdef Tensor s = tensor_argument(source, "put", "source", 3)
    cdef Node node
    if code_of(x.array) != code_of(s.array):
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got self.dtype = {x.dtype} and "
                           f"source.dtype = {s.dtype}")
    if cnp.PyArray_SIZE(i.array) != cnp.PyArray_SIZE(s.array):
        raise RuntimeError("put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                           f"{cnp.PyArray_SIZE(s.array)}, index.numel() = {cnp.PyArray_SIZE(i.array)}")
    places = places_in(i.array, cnp.PyArray_SIZE(x.array), "put_")
    flat = dense_copy(x.array).reshape(-1)
    if accumulate:
        add_at(flat, (places,), s.array.reshape(-1))
    else:
        flat[places] = s.array.reshape(-1)
    array = flat.reshape(shape_of(x))
    if not cnp.PyArray_IS_C_CONTIGUOUS(x.array):        # keep the order of dimensions in memory
        ordered = copy_in_order(x.array, code_of(x.array))
        ordered[...] = array
        array = ordered
    y = new_tensor(array)
    if any_wanted((x, s)):
        node = new_node(PutBackward0, (accumulate, shape_of(s), shape_of(x)))
        save_input(node, 0, i)
        save_input(node, 1, s)
        record_all(node, y, (x, s))
    return y


def put_(Tensor self, index, source, accumulate=False):
    """put_(index, source, accumulate=False) -> Tensor: put() written into the tensor's own memory."""
    check_apart(self, (index, source))
    return in_place("put_", put, self, (index, source, accumulate))


inplace_op(put_, put)


cdef object from_front(Tensor index, Py_ssize_t size):
    """Negative indices counted from the end."""
    if not index.batched and (index.array.size == 0 or index.array.min() >= 0):
        return index
    return index + ((<object> index) < 0) * size


@op(methods=("take_along_dim",), batch=COMPOSITE)
def take_along_dim(input, indices: Tensor, dim: int | None = None):
    """take_along_dim(input, indices, dim=None) -> Tensor: gather(), with both tensors broadcast in all dimensions but `dim`.

    Without `dim` the input is flattened.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[3.0, 1.0], [2.0, 4.0]])
    >>> ag.take_along_dim(x, ag.tensor([[1], [0]]), 1)
    tensor([[1.],
            [2.]])
    """
    cdef Tensor x = as_tensor(input, "take_along_dim"), i = tensor_argument(indices, "take_along_dim", "indices", 2)
    cdef int ndim = cnp.PyArray_NDIM(x.array), d
    if code_of(i.array) != INT64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {i.dtype}")
    if dim is None:
        return input.reshape(-1).gather(0, from_front(i, cnp.PyArray_SIZE(x.array)).reshape(-1))
    if ndim != cnp.PyArray_NDIM(i.array):
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
                           f"{ndim} dimensions for input, and {cnp.PyArray_NDIM(i.array)} dimensions for indices")
    d = wrap_dim(dim, ndim)
    own, wanted = shape_of(x), shape_of(i)
    common = [s if s == w or w == 1 else w if s == 1 else -1 for s, w in zip(own, wanted)]
    if -1 in common[:d] + common[d + 1:]:
        broadcast_tensors(input.narrow(d, 0, 0), indices.narrow(d, 0, 0))       # raises the error
    if ndim == 0:
        return input.gather(0, from_front(i, 1))
    indices = from_front(i, own[d])
    x = input.expand(*common[:d], own[d], *common[d + 1:])
    return x.gather(d, indices.expand(*common[:d], wanted[d], *common[d + 1:]))
