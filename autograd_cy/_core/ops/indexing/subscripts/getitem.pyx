"""Indexing: how x[...] is interpreted.

An index is read from left to right, as in PyTorch. Each int, slice and None makes a view, with a node. Index tensors are
collected and applied to that view all at once. So, unlike in NumPy, an int beside an index tensor does not count as an
index tensor: x[0, :, [1, 2]] is x[0][:, [1, 2]].
"""

import warnings
from operator import index as as_int
from reprlib import repr as shortened

import numpy as np

cimport cython
from cpython.number cimport PyIndex_Check

from autograd_cy._core.arrays.buffers cimport check_depth
from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, INT32, INT64, UINT8, code_of
from autograd_cy._core.graph.context cimport ITEM, fill_operator
from autograd_cy._core.graph.record cimport as_tensor, int64_of, needs_node
from autograd_cy._core.graph.tensor cimport Tensor, link_view, new_tensor
from autograd_cy._core.ops.indexing.slicing cimport check_row, part, row_view, unpack_slice
from autograd_cy._core.ops.overrides cimport alias
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, NO_GRAD, OP_HOOKS, Extent, enter_modes, leave_modes, thread_state

from autograd_cy._core.ops.registry import op


@cython.final
cdef class Reading:
    """The state while an index is read."""
    cdef Tensor view            # the tensor after the ints, slices and Nones so far
    cdef int dim                # the next dimension of the view
    cdef int own                # the same dimension in the tensor itself, for messages
    cdef int hidden             # the number of dimensions that an Ellipsis covers
    cdef list indices           # index tensors, one for each dimension of the view (None: all of it)
    cdef int covered            # the number of dimensions that `indices` covers

    cdef int read(self, object item) except -1:
        if type(item) is int:
            self.read_int(int64_of(item))
        elif item is None:
            self.insert()
            self.dim += 1
        elif item is Ellipsis:
            self.pass_by(self.hidden)
            self.hidden = 0
        elif isinstance(item, slice):
            self.read_slice(item)
        elif isinstance(item, bool):
            self.read_bool(item)
        elif isinstance(item, Tensor):
            self.read_tensor(<Tensor> item)
        else:
            self.read_int(int64_of(as_int(item)))
        return 0

    cdef int pass_by(self, int n) except -1:
        self.dim += n
        self.own += n
        return 0

    cdef int insert(self) except -1:
        self.view = self.view.unsqueeze(self.dim)
        return 0

    cdef int read_int(self, Py_ssize_t index) except -1:
        check_row(index, self.own, cnp.PyArray_DIM(self.view.array, self.dim))
        self.view = row_view(self.view, self.dim, index)
        self.own += 1
        return 0

    cdef int read_slice(self, object index) except -1:
        cdef Py_ssize_t start, end, step, size = cnp.PyArray_DIM(self.view.array, self.dim)
        unpack_slice(index, &start, &end, &step)
        if start != 0 or end < size or step != 1:
            self.view = part(self.view, self.dim, start, end, step)
        self.pass_by(1)
        return 0

    cdef int read_bool(self, bint index) except -1:
        """A dimension of size 1 or 0."""
        self.insert()
        self.add(new_tensor(np.zeros(1 if index else 0, np.int64)), 1)
        self.dim += 1
        return 0

    cdef int read_tensor(self, Tensor index) except -1:
        cdef int n = cnp.PyArray_NDIM(index.array)
        if n == 0:
            return self.read_bool(bool(index.array)) if is_mask(index) else self.read_int(int(index.array))
        n = n if is_mask(index) else 1
        self.add(index, n)
        return self.pass_by(n)

    cdef int add(self, Tensor index, int n) except -1:
        self.indices.extend([None] * (self.dim - self.covered))
        self.indices.append(index)
        self.covered = self.dim + n
        return 0


cdef Tensor read(Tensor x, tuple items):
    cdef Reading reading = reading_of(x, items, needs_node(x))
    if reading.indices:
        return pick(reading.view, tuple(reading.indices))
    return alias(x) if reading.view is x else reading.view


cdef Reading reading_of(Tensor x, tuple items, bint wanted):
    """Read a whole index; `wanted`: a node may keep the index tensors."""
    cdef Reading reading = Reading.__new__(Reading)
    cdef int n = 0, ndim = cnp.PyArray_NDIM(x.array)
    cdef list clean = []
    for item in items:
        if type(item) is not int and type(item) is not slice:
            item = prepared(item, wanted)
        clean.append(item)
        n += dims_used(item)
    if n > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    reading.view = x
    reading.hidden = ndim - n
    reading.indices = []
    for item in clean:
        reading.read(item)
    return reading


cdef tuple place_of_index(Tensor x, object index, bint wanted):
    """The target of x[index] = y: a view of `x` (or `x` itself), and the index tensors on it; nothing is recorded.

    `wanted`: a node may keep the index tensors.
    """
    cdef Extent extent
    cdef Reading reading
    cdef Tensor view = x
    is_tuple = isinstance(index, tuple) or stands_for_tuple(index)
    extent = enter_modes(NO_GRAD, 0)
    thread_state().mode &= ~(FORWARD_AD | OP_HOOKS)
    try:
        reading = reading_of(x, tuple(index) if is_tuple else (index,), wanted)
    finally:
        leave_modes(extent)
    if reading.view is not x:
        view = new_tensor(reading.view.array)
        link_view(x, view)
        if view.extras is not None:
            view.extras.current = view.extras.tangent_version = -1      # its node is made on demand
    return view, tuple(reading.indices)


cdef object prepared(object item, bint wanted):
    """An item with sequences and arrays converted to Tensors; IndexError if it is no index."""
    if item is None or item is Ellipsis or isinstance(item, (slice, bool)):
        return item
    if isinstance(item, (list, tuple, range)):
        item = array_of_numbers(item)
        wanted = False                  # nothing else can change it
    if isinstance(item, np.ndarray):
        item = new_tensor(index_array(item, wanted))
    if isinstance(item, Tensor):
        return checked_index(<Tensor> item)
    if PyIndex_Check(item):
        return item
    name = str(type(item)).split("'")[1]            # float, numpy.bool
    raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                     f"(got {name})")


cdef cnp.ndarray array_of_numbers(object items):
    """A sequence as an array, an empty one of integers. ValueError if it is ragged, TypeError if it has other items."""
    try:
        array = np.asarray(arrays_of(items, 0))
    except ValueError:
        raise ValueError(f"an index in a list must have lists of one length, got {shortened(items)}") from None
    if array.dtype.kind not in "biufc":
        raise TypeError(f"an index in a list must be of integers or bools, got {shortened(items)}")
    return array if array.size else array.astype(np.int64)


cdef object arrays_of(object items, int depth):
    """A sequence with the Tensors in it, at any depth, replaced by their arrays."""
    if isinstance(items, Tensor):
        return (<Tensor> items).array
    check_depth(depth)
    return [arrays_of(item, depth + 1) for item in items] if isinstance(items, (list, tuple)) else items


cdef cnp.ndarray index_array(cnp.ndarray array, bint copied):
    """Integers of any type as int64; `copied`: a node will keep the array, so later changes must not affect it."""
    if array.dtype.kind in "iu" and array.dtype != np.uint8:
        return np.array(array, np.int64, copy=True if copied else None)
    return array.copy() if copied else array


cdef Tensor checked_index(Tensor index):
    cdef int dtype_code = code_of(index.array)
    if dtype_code >= FLOAT16 or (dtype_code not in (BOOL, UINT8, INT32, INT64) and cnp.PyArray_NDIM(index.array)):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if dtype_code == UINT8 and cnp.PyArray_NDIM(index.array):
        warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
    return index


cdef int dims_used(object item) except -1:
    """The number of dimensions of the tensor that an item consumes."""
    if type(item) is int or isinstance(item, slice):
        return 1
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return cnp.PyArray_NDIM((<Tensor> item).array) if isinstance(item, Tensor) and is_mask(<Tensor> item) else 1


cdef bint stands_for_tuple(object index):
    """Whether a list is read as a tuple, as PyTorch still does."""
    kinds = (Tensor, np.ndarray, list, tuple, range, slice, type(None), type(Ellipsis))
    if not isinstance(index, list) or len(index) >= 32 or not any([isinstance(item, kinds) for item in index]):
        return False
    warnings.warn("Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead "
                  "of x[seq], or x[torch.tensor(seq)] for a tensor index.")
    return True


cdef object item_of(object self, object index):
    """self[index]"""
    cdef Tensor x = <Tensor> self
    cdef Py_ssize_t row, start, end, step
    if type(index) is tuple:
        return read(x, <tuple> index)
    if type(index) is int:
        if cnp.PyArray_NDIM(x.array) == 0:
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
                             "C++ to convert a 0-dim tensor to a number")
        row = int64_of(index)
        check_row(row, 0, cnp.PyArray_DIM(x.array, 0))
        return row_view(x, 0, row)
    if isinstance(index, slice):
        if cnp.PyArray_NDIM(x.array) == 0:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        unpack_slice(index, &start, &end, &step)
        return part(x, 0, start, end, step)
    return read(x, tuple(index) if isinstance(index, tuple) or stands_for_tuple(index) else (index,))


@op(name="__getitem__", methods=("__getitem__",), namespace="Tensor")
def getitem(input, index):
    """x[index] -> Tensor: a view for ints, slices, None and Ellipsis; a copy for index tensors, sequences and masks.

    Index tensors, arrays and sequences of integers pick elements, masks the elements where they are true. An element that is
    picked several times receives the sum of its gradients. IndexError if an index is out of bounds.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[1], x[:, 0], x[[1, 1], [0, 1]], x[x == 4]
    (tensor([3., 4.]), tensor([1., 3.]), tensor([3., 4.]), tensor([4.]))
    """
    return item_of(as_tensor(input, "getitem"), index)


fill_operator(ITEM, "Tensor.__getitem__", item_of)
