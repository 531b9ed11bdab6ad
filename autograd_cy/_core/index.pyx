"""Indexing: what x[...] means.

An index is read from left to right, as PyTorch does it: ints, slices and None make a view each, with a node each; index
tensors are collected and picked from that view at once. So, unlike in NumPy, an int beside an index tensor does not
count as one: x[0, :, [1, 2]] is x[0][:, [1, 2]].

All of it is linear: the rule of a node is the transposed operation, which puts values back among zeros.
"""

import warnings
from math import prod
from operator import index as as_int

import numpy as np

cimport cython
from cpython.number cimport PyIndex_Check
cimport numpy as cnp

from autograd_cy._core.dtypes cimport BOOL, FLOAT16, INT32, INT64, UINT8, code_of
from autograd_cy._core.node cimport Node
from autograd_cy._core.parts cimport alias, check_row, part, select, unpack_slice
from autograd_cy._core.record cimport as_tensor, is_wanted, new_node, record, shape_of
from autograd_cy._core.rows cimport add_rows, take_rows
from autograd_cy._core.saved cimport SavedTensor, freed_error, save
from autograd_cy._core.tensor cimport Tensor, new_tensor

from autograd_cy._core.registry import op

cnp.import_array()


# index tensors

cdef class Indexing(Node):
    """Keeps any number of index tensors (None: a dimension taken whole), each with its version."""

    cdef tuple constant_names(self):
        return ("self_sym_sizes",)

    @property
    def _saved_indices(self):
        return self.indices()

    cdef tuple indices(self):
        if self.released:
            raise freed_error(self)
        return tuple([(<SavedTensor> saved).unpack(self) for saved in <tuple> self.saved0])


@cython.final
cdef class IndexBackward0(Indexing):
    cdef object vjp(self, object g, int i, bint reuse):
        return put(<cnp.ndarray> g, self.indices(), self.constants[0])

    cdef object rule(self, object g, int i):
        return index_put(g, self.indices(), self.constants[0])

    cdef object jvp(self, tuple tangents):
        return index(tangents[0], self.indices())


@cython.final
cdef class IndexPutImplBackward0(Indexing):
    cdef object rule(self, object g, int i):
        return index(g, self.indices())

    cdef object jvp(self, tuple tangents):
        return index_put(tangents[0], self.indices(), self.constants[0])


cdef Tensor enter_indexing(object node_class, tuple sizes, tuple indices, Tensor x, cnp.ndarray array):
    cdef Tensor y = new_tensor(array)
    cdef Node node
    if is_wanted(x):
        node = new_node(node_class, (sizes,))
        node.saves = True
        node.saved0 = tuple([save(i, node) for i in indices])
        record(node, y, x)
    return y


cdef Tensor index(Tensor x, tuple indices):
    """The elements at the index tensors, one for each dimension from the first (a mask stands for as many as it has)."""
    return enter_indexing(IndexBackward0, shape_of(x), indices, x, picked(x.array, indices))


cdef Tensor index_put(Tensor g, tuple indices, tuple sizes):
    """Zeros, with the elements of `g` added where index() took them: transposed to it."""
    return enter_indexing(IndexPutImplBackward0, sizes, indices, g, put(g.array, indices, sizes))


cdef cnp.ndarray picked(cnp.ndarray array, tuple indices):
    cdef list sizes, rows
    sizes, rows = rows_by_dim(indices, np.shape(array))
    cdef list dims = indexed(rows)
    array = array.reshape(sizes)
    try:
        if len(dims) == 1:
            return take_rows(array, dims[0], rows[dims[0]])
        return np.ascontiguousarray(array[tuple([slice(None) if r is None else r for r in rows])])
    except IndexError:
        check_rows(sizes, rows)
        raise


cdef cnp.ndarray put(cnp.ndarray g, tuple indices, tuple sizes):
    """Several dimensions are indexed as one: moved to the front if they stand apart, where picked() puts theirs."""
    cdef list merged, rows
    merged, rows = rows_by_dim(indices, sizes)
    cdef list dims = indexed(rows)
    cdef int first = dims[0], n = len(dims)
    order = list(range(len(merged)))
    if dims != order[first:first + n]:
        order = dims + [d for d in order if d not in dims]
        first = 0
    moved = [merged[d] for d in order]
    total = add_rows(g, (*moved[:first], prod(moved[first:first + n]), *moved[first + n:]), first,
                     combined([rows[d] for d in dims], [merged[d] for d in dims]))
    return total.reshape(moved).transpose(np.argsort(order)).reshape(sizes)


cdef list indexed(list rows):
    """The dimensions for which there are rows."""
    cdef Py_ssize_t d
    return [d for d in range(len(rows)) if rows[d] is not None]


cdef cnp.ndarray combined(list rows, list sizes):
    """Rows of several dimensions as those of one, into which they are multiplied out."""
    if len(rows) == 1:
        return rows[0]
    total = 0
    for numbers, size in zip(rows, sizes):
        total = total * size + np.where(numbers < 0, numbers + size, numbers)
    return total


cdef tuple rows_by_dim(tuple indices, tuple sizes):
    """The sizes and, for each of them, integer rows or None; the dimensions of a mask become one."""
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
            if np.shape(array) != sizes[dim:dim + n]:
                raise mask_error(array, dim, sizes)
            rows.append(np.flatnonzero(array))
        else:
            n = 1
            rows.append((<Tensor> item).array.astype(np.int64, copy=False))
        merged.append(prod(sizes[dim:dim + n]))
        dim += n
    return [*merged, *sizes[dim:]], rows + [None] * (len(sizes) - dim)


cdef int check_rows(list sizes, list rows) except -1:
    """Say in PyTorch's words why NumPy refuses the rows."""
    shapes = [list(np.shape(r)) for r in rows if r is not None]
    try:
        np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        raise IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes "
                         + ", ".join(map(str, shapes))) from None
    for dim, (size, numbers) in enumerate(zip(sizes, rows)):
        if numbers is not None and size == 0 and numbers.size:
            raise IndexError("index is out of bounds for dimension with size 0")
        if numbers is not None:
            for number in numbers[(numbers < -size) | (numbers >= size)]:
                check_row(number, dim, size)
    return 0


cdef object mask_error(cnp.ndarray mask, int dim, tuple sizes):
    wrong = [k for k in range(mask.ndim) if mask.shape[k] != sizes[dim + k]][0]
    return IndexError(f"The shape of the mask {list(np.shape(mask))} at index {wrong} does not match the shape of the indexed "
                      f"tensor {list(sizes)} at index {dim + wrong}")


# reading an index

@cython.final
cdef class Reading:
    """How far an index was read."""
    cdef Tensor view            # what the ints, slices and Nones so far make of the tensor
    cdef int dim                # of the view, that comes next
    cdef int own                # the same dimension of the tensor itself, for messages
    cdef int hidden             # the dimensions that an Ellipsis stands for
    cdef list indices           # index tensors, one for each dimension of the view (None: whole)
    cdef int covered            # the dimensions for which `indices` has them

    cdef int read(self, object item) except -1:
        if item is None:
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
            self.read_int(as_int(item))
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
        self.view = select(self.view, self.dim, index)
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
    cdef Reading reading = Reading.__new__(Reading)
    cdef bint wanted = is_wanted(x)
    items = tuple([prepared(item, wanted) for item in items])
    cdef int n = sum([dims_used(item) for item in items]), ndim = cnp.PyArray_NDIM(x.array)
    if n > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    reading.view = x
    reading.hidden = ndim - n
    reading.indices = []
    for item in items:
        reading.read(item)
    if reading.indices:
        return index(reading.view, tuple(reading.indices))
    return alias(x) if reading.view is x else reading.view


cdef object prepared(object item, bint wanted):
    """An item with sequences and arrays made Tensors; IndexError for what is no index."""
    if item is None or item is Ellipsis or isinstance(item, (slice, bool)):
        return item
    if isinstance(item, (list, tuple, range)):
        item = np.asarray(arrays_of(item))
        item = item if item.size else item.astype(np.int64)
        wanted = False                  # nobody else can change it
    if isinstance(item, np.ndarray):
        item = new_tensor(index_array(item, wanted))
    if isinstance(item, Tensor):
        return checked_index(<Tensor> item)
    if PyIndex_Check(item):
        return item
    name = str(type(item)).split("'")[1]            # float, numpy.bool
    raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                     f"(got {name})")


cdef object arrays_of(object items):
    """A sequence with the Tensors in it, at any depth, replaced by their arrays."""
    if isinstance(items, Tensor):
        return (<Tensor> items).array
    return [arrays_of(item) for item in items] if isinstance(items, (list, tuple)) else items


cdef cnp.ndarray index_array(cnp.ndarray array, bint copied):
    """An array of integers of any type as int64; `copied`: a node will keep it, so later changes must not show."""
    if array.dtype.kind in "iu" and array.dtype != np.uint8:
        return np.array(array, np.int64, copy=True if copied else None)
    return array.copy() if copied else array


cdef Tensor checked_index(Tensor index):
    cdef int code = code_of(index.array)
    if code >= FLOAT16 or (code not in (BOOL, UINT8, INT32, INT64) and cnp.PyArray_NDIM(index.array)):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if code == UINT8 and cnp.PyArray_NDIM(index.array):
        warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
    return index


cdef bint is_mask(Tensor index) noexcept:
    cdef int number = cnp.PyArray_TYPE(index.array)
    return number == cnp.NPY_BOOL or number == cnp.NPY_UINT8


cdef int dims_used(object item) except -1:
    """How many dimensions of the tensor an item is for."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return cnp.PyArray_NDIM((<Tensor> item).array) if isinstance(item, Tensor) and is_mask(<Tensor> item) else 1


cdef bint stands_for_tuple(object index):
    """Whether a list is read as if it were a tuple, as PyTorch still does."""
    kinds = (Tensor, np.ndarray, list, tuple, range, slice, type(None), type(Ellipsis))
    if not isinstance(index, list) or len(index) >= 32 or not any([isinstance(item, kinds) for item in index]):
        return False
    warnings.warn("Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of "
                  "x[seq], or x[torch.tensor(seq)] for a tensor index.")
    return True


@op(name="getitem", methods=("__getitem__",))
def getitem(input, index):
    """x[index] -> Tensor: a view for ints, slices, None and Ellipsis; a copy for index tensors, sequences and masks.

    Elements that are picked several times add up their gradients. IndexError for what is out of bounds.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[1], x[:, 0], x[[1, 1], [0, 1]], x[x > 2]
    (tensor([3., 4.]), tensor([1., 3.]), tensor([3., 4.]), tensor([3., 4.]))
    """
    cdef Tensor x = as_tensor(input, "getitem")
    cdef Py_ssize_t start, end, step
    if type(index) is tuple:
        return read(x, <tuple> index)
    if type(index) is int:
        if cnp.PyArray_NDIM(x.array) == 0:
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                             "convert a 0-dim tensor to a number")
        check_row(index, 0, cnp.PyArray_DIM(x.array, 0))
        return select(x, 0, index)
    if isinstance(index, slice):
        if cnp.PyArray_NDIM(x.array) == 0:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        unpack_slice(index, &start, &end, &step)
        return part(x, 0, start, end, step)
    return read(x, tuple(index) if isinstance(index, tuple) or stands_for_tuple(index) else (index,))
