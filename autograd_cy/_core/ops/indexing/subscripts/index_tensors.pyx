"""Elements picked by index tensors, and the transpose, which adds them into zeros.

`indices` is a tuple with one index tensor for each dimension, from the first on: integers, or a mask, which covers as many
dimensions as it has. None takes a whole dimension.
"""

from math import prod

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, find_order, new_array_in_order, sizes_of
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, Request, SavedTensor, freed_error, handles, save_several
from autograd_cy._core.graph.record cimport needs_node, new_node, record, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.selection_loops cimport add_rows, combined, take_rows
from autograd_cy._core.ops.indexing.slicing cimport check_row
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef bint is_mask(Tensor index) noexcept:
    cdef int number = cnp.PyArray_TYPE(index.array)
    return number == cnp.NPY_BOOL or number == cnp.NPY_UINT8


cdef class Indexing(Node):
    """Keeps the indices in `saved0`, each with its version."""

    cdef tuple saved_names(self):
        return ("indices",)

    cdef tuple constant_names(self):
        return ("self_sym_sizes",)

    @property
    def _saved_indices(self):
        return self.indices()

    @property
    def _raw_saved_indices(self):
        """The handles of the indices."""
        if self.released:
            raise freed_error(self)
        return handles(self, <tuple> self.saved0)

    cdef tuple indices(self):
        if self.released:
            raise freed_error(self)
        return tuple([(<SavedTensor> saved).restored(self) for saved in <tuple> self.saved0])


@cython.final
cdef class IndexBackward0(Indexing):
    cdef object vjp_array(self, object g, int i, Request *request):
        return put_picked(<cnp.ndarray> g, self.indices(), self.constants[0])

    cdef object vjp(self, object g, int i):
        return put_back(g, self.indices(), self.constants[0])

    cdef object jvp(self, tuple tangents):
        return pick(tangents[0], self.indices())


@cython.final
cdef class IndexPutImplBackward0(Indexing):
    cdef object vjp(self, object g, int i):
        return pick(g, self.indices())

    cdef object jvp(self, tuple tangents):
        return put_back(tangents[0], self.indices(), self.constants[0])


cdef Tensor record_indexing(object node_class, tuple sizes, tuple indices, Tensor x, cnp.ndarray array):
    cdef Tensor y = new_tensor(array)
    cdef Node node
    if needs_node(x):
        node = new_node(node_class, (sizes,))
        save_several(node, 0, indices)
        record(node, y, x)
    return y


cdef Tensor pick(Tensor x, tuple indices):
    """The elements of `x` at the indices."""
    if x.batched:
        return (<object> x)[tuple([slice(None) if i is None else i for i in indices])]
    return record_indexing(IndexBackward0, shape_of(x), indices, x, picked(x.array, indices))


cdef Tensor put_back(Tensor g, tuple indices, tuple sizes):
    """Zeros, with the elements of `g` added where pick() took them: the transpose of pick."""
    if g.batched:
        return (<object> zeros_as(g, sizes)).index_put(indices, g, True)
    return record_indexing(IndexPutImplBackward0, sizes, indices, g, put_picked(g.array, indices, sizes))


cdef cnp.ndarray picked(cnp.ndarray array, tuple indices):
    cdef list sizes, rows
    sizes, rows = rows_by_dim(indices, sizes_of(array))
    cdef cnp.ndarray result = taken(array, sizes, rows)
    return result if is_dense(array, rows) else in_their_order(result, array, indices, rows)


cdef cnp.ndarray taken(cnp.ndarray array, list sizes, list rows):
    """The picked elements in C order."""
    cdef list dims = indexed(rows)
    cdef int first = dims[0], n = len(dims)
    array = array if len(sizes) == cnp.PyArray_NDIM(array) else array.reshape(sizes)
    try:
        if n == 1:
            return take_rows(array, first, rows[first])
        if cnp.PyArray_IS_C_CONTIGUOUS(array) and not apart(dims):
            array = array.reshape((*sizes[:first], prod(sizes[first:first + n]), *sizes[first + n:]))
            return take_rows(array, first, combined(rows[first:first + n], sizes[first:first + n]))
        return np.ascontiguousarray(array[tuple([slice(None) if r is None else r for r in rows])])
    except IndexError:
        check_rows(sizes, rows)
        raise


cdef bint is_dense(cnp.ndarray array, list rows) noexcept:
    """Whether array and rows are in C order: then the result is, too."""
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        return False
    for numbers in rows:
        if numbers is not None and not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> numbers):
            return False
    return True


cdef cnp.ndarray in_their_order(cnp.ndarray result, cnp.ndarray array, tuple indices, list rows):
    """The result with its dimensions in the memory order of array and rows: NOTE [Layouts of results]."""
    cdef cnp.ndarray picks, strides
    cdef list dims = indexed(rows), kept = []
    cdef int[MAX_DIMS] order
    cdef int dim = 0, k, axis, n, ndim = cnp.PyArray_NDIM(result), first = 0 if apart(dims) else dims[0]
    for item in indices:
        if item is None:
            kept.append(cnp.PyArray_STRIDE(array, dim))
        dim += cnp.PyArray_NDIM((<Tensor> item).array) if item is not None and is_mask(<Tensor> item) else 1
    kept += [cnp.PyArray_STRIDE(array, axis) for axis in range(dim, cnp.PyArray_NDIM(array))]
    n = ndim - len(kept)                        # the dimensions made by the rows
    strides = np.zeros((len(dims) + 1, MAX_DIMS), np.intp)
    strides[0, :ndim] = kept[:first] + [0] * n + kept[first:]
    strides[0, :ndim] *= np.not_equal(sizes_of(result), 1)
    for k, dim in enumerate(dims):
        picks = <cnp.ndarray> rows[dim]
        for axis in range(cnp.PyArray_NDIM(picks)):
            if cnp.PyArray_DIM(picks, axis) > 1:
                strides[k + 1, first + n - cnp.PyArray_NDIM(picks) + axis] = cnp.PyArray_STRIDE(picks, axis)
    in_order = find_order(ndim, cnp.PyArray_DIMS(result), <cnp.npy_intp *> cnp.PyArray_DATA(strides), len(dims) + 1, order)
    array = new_array_in_order(code_of(result), ndim, cnp.PyArray_DIMS(result), NULL if in_order else order)
    cnp.PyArray_CopyInto(array, result)
    return array


cdef cnp.ndarray put_picked(cnp.ndarray g, tuple indices, tuple sizes):
    cdef list merged, rows
    merged, rows = rows_by_dim(indices, sizes)
    cdef list dims = indexed(rows), order
    cdef int first = dims[0], n = len(dims)
    if not apart(dims):
        numbers = combined(rows[first:first + n], merged[first:first + n])
        return add_rows(g, sizes, prod(merged[:first]), prod(merged[first:first + n]), numbers)
    # picked() moves dimensions that are not adjacent to the front
    order = dims + [d for d in range(len(merged)) if d not in dims]
    merged = [merged[d] for d in order]
    numbers = combined([rows[d] for d in dims], merged[:n])
    total = add_rows(g, tuple(merged), 1, prod(merged[:n]), numbers)
    return total.transpose(np.argsort(order)).reshape(sizes)


cdef bint apart(list dims):
    """Whether these dimensions are not adjacent."""
    return dims[len(dims) - 1] - dims[0] != len(dims) - 1


cdef list indexed(list rows):
    """The dimensions that have rows."""
    cdef Py_ssize_t d
    return [d for d in range(len(rows)) if rows[d] is not None]


cdef tuple rows_by_dim(tuple indices, tuple sizes):
    """The sizes, and for each of them integer rows or None; the dimensions of a mask are merged into one."""
    cdef list merged = [], rows = []
    cdef cnp.ndarray array
    cdef int dim = 0, n
    for item in indices:
        if item is None:
            n = 1
            rows.append(None)
        elif is_mask(item):
            array = (<Tensor> item).array
            n = cnp.PyArray_NDIM(array)
            if sizes_of(array) != sizes[dim:dim + n]:
                raise mask_error(array, dim, sizes)
            rows.append(np.flatnonzero(array))
        else:
            n = 1
            rows.append((<Tensor> item).array.astype(np.int64, copy=False))
        merged.append(prod(sizes[dim:dim + n]))
        dim += n
    return [*merged, *sizes[dim:]], rows + [None] * (len(sizes) - dim)


cdef int check_rows(list sizes, list rows) except -1:
    """Raise PyTorch's error for rows that NumPy refuses."""
    shapes = [list(sizes_of(r)) for r in rows if r is not None]
    try:
        np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        raise IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes "
                         + ", ".join(map(str, shapes))) from None
    for dim, (size, numbers) in enumerate(zip(sizes, rows)):
        if numbers is None or numbers.size == 0:
            continue
        if size == 0:
            raise IndexError("index is out of bounds for dimension with size 0")
        check_row(numbers.min(), dim, size)
        check_row(numbers.max(), dim, size)
    return 0


cdef tuple places_of(cnp.ndarray array, tuple indices):
    """NumPy's index for the elements that pick() takes; IndexError for a mask of another shape."""
    cdef list places = []
    cdef tuple sizes = sizes_of(array)
    cdef cnp.ndarray mask
    cdef int dim = 0
    for item in indices:
        if item is not None and is_mask(<Tensor> item):
            mask = (<Tensor> item).array
            if sizes_of(mask) != sizes[dim:dim + mask.ndim]:
                raise mask_error(mask, dim, sizes)
            dim += mask.ndim
            places.append(mask.astype(bool, copy=False))
        else:
            dim += 1
            places.append(slice(None) if item is None else (<Tensor> item).array)
    return tuple(places)


cdef cnp.ndarray without_leading(cnp.ndarray values):
    """The values without leading dimensions of size 1, which NumPy refuses with a mask."""
    cdef int n = 0
    while n + 1 < cnp.PyArray_NDIM(values) and cnp.PyArray_DIM(values, n) == 1:
        n += 1
    return values[(0,) * n] if n else values


cdef object explained(object error, cnp.ndarray array, tuple indices, cnp.ndarray values):
    """The error for values that NumPy refuses to write at the indices."""
    if isinstance(error, IndexError):
        sizes, rows = rows_by_dim(indices, sizes_of(array))
        check_rows(sizes, rows)
        return error
    return RuntimeError(f"shape mismatch: value tensor of shape {list(sizes_of(values))} cannot be broadcast to indexing "
                        f"result of shape {list(np.shape(array[places_of(array, indices)]))}")


cdef object mask_error(cnp.ndarray mask, int dim, tuple sizes):
    wrong = [k for k in range(mask.ndim) if mask.shape[k] != sizes[dim + k]][0]
    return IndexError(f"The shape of the mask {list(sizes_of(mask))} at index {wrong} does not match the shape of the "
                      f"indexed tensor {list(sizes)} at index {dim + wrong}")
