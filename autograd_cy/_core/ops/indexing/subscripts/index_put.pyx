"""Elements written where index tensors point."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport copy_in_order
from autograd_cy._core.arrays.dtypes cimport code_of, dtype
from autograd_cy._core.graph.node cimport Node, save_several
from autograd_cy._core.graph.record cimport as_tensor, as_type, needs_node, new_node, record_all, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.selection_loops cimport add_at
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport check_apart, check_memory

from autograd_cy._core.ops.registry import inplace_op, op


@cython.final
cdef class IndexPutBackward0(Indexing):
    """Constants: the sizes of the input, `accumulate`, the sizes and the type of the values."""

    cdef tuple constant_names(self):
        return (None, "accumulate")

    cdef object vjp(self, object g, int i):
        cdef tuple indices = self.indices()
        if i == 0:
            return g if self.constants[1] else put_at(g, indices, zero_like(<Tensor> g), False)
        return as_type(pick(g, indices).sum_to_size(self.constants[2]), <dtype> self.constants[3])

    cdef object jvp(self, tuple tangents):
        """If an element is named twice, the last value counts. Gradients ignore that."""
        t, values = tangents
        if t is None:
            t = new_tensor(np.zeros(self.constants[0], (<Tensor> values).array.dtype))
        elif values is None:
            values = new_tensor(np.zeros(self.constants[2], (<Tensor> t).array.dtype))
        return index_put(t, self.indices(), values, self.constants[1])


cdef Tensor zero_like(Tensor x):
    return new_tensor(np.zeros((), x.array.dtype))


cdef Tensor put_at(Tensor x, tuple indices, Tensor values, bint accumulate):
    """A copy of `x` with the values written, or added, where pick() takes elements. None in `indices`: a whole dimension."""
    if x.batched:
        return index_put(x, indices, values, accumulate)
    cdef cnp.ndarray array = copy_in_order(x.array, code_of(x.array))
    cdef Tensor y
    cdef Node node
    cdef tuple places = places_of(array, indices)
    try:
        if accumulate:
            add_at(array, places, values.array)
        else:
            array[places] = without_leading(values.array)
    except (ValueError, TypeError, IndexError) as error:
        raise explained(error, array, indices, values.array) from None
    y = new_tensor(array)
    if needs_node(x) or needs_node(values):
        node = new_node(IndexPutBackward0, (shape_of(x), accumulate, shape_of(values), values.dtype))
        save_several(node, 0, indices)
        record_all(node, y, (x, values))
    return y


@op(methods=("index_put",))
def index_put(input, indices, values, accumulate=False):
    """index_put(input, indices, values, accumulate=False) -> Tensor: a copy with x[indices] = values, or += if accumulate.

    `indices` is a tuple of index tensors, integers or masks; values are broadcast, and have the input's dtype. If a place is
    named several times, the gradient is only right with accumulate.

    >>> import autograd_cy as ag
    >>> ag.index_put(ag.zeros(3), (ag.tensor([0, 0]),), ag.tensor([1.0, 2.0]), accumulate=True)
    tensor([3., 0., 0.])
    """
    cdef Tensor x = as_tensor(input, "index_put")
    if not isinstance(indices, (tuple, list)) or not all([i is None or isinstance(i, Tensor) for i in indices]):
        raise TypeError("index_put(): argument 'indices' (position 2) must be tuple of Tensors")
    if not isinstance(values, Tensor):
        raise TypeError(f"index_put(): argument 'values' (position 3) must be Tensor, not {type(values).__name__}")
    if code_of((<Tensor> values).array) != code_of(x.array):
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {x.dtype} for the destination "
                           f"and {values.dtype} for the source.")
    if len(indices) > cnp.PyArray_NDIM(x.array):
        raise IndexError(f"too many indices for tensor of dimension {cnp.PyArray_NDIM(x.array)} (got {len(indices)})")
    for index in indices:
        if index is not None:
            checked_index(<Tensor> index)
    return put_at(x, tuple(indices), <Tensor> values, accumulate)


cpdef index_put_(Tensor self, indices, values, accumulate=False):
    """index_put_(indices, values, accumulate=False) -> Tensor: index_put() written into the tensor's own memory."""
    if isinstance(indices, (tuple, list)):
        check_places_apart(self, tuple(indices), values, accumulate)
    return in_place("index_put_", index_put, self, (indices, values, accumulate))


cdef int check_places_apart(Tensor target, tuple indices, object values, bint accumulate) except -1:
    """Refuse indices and values that share memory with the target. A mask for a single value is masked_fill(), which reads the
    value first, and may have the target itself as its mask.
    """
    if len(indices) == 1 and isinstance(indices[0], Tensor) and is_mask(indices[0]) and not accumulate and is_single(values):
        return check_memory(target.array, (<Tensor> indices[0]).array)
    return check_apart(target, (*indices, values))


cdef bint is_single(object values) except -1:
    return not isinstance(values, Tensor) or cnp.PyArray_SIZE((<Tensor> values).array) == 1


inplace_op(index_put_, index_put)
