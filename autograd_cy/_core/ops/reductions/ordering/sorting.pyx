"""Sorting along a dimension, and elements selected by rank. NaN counts as the largest."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport dense, flat
from autograd_cy._core.arrays.dtypes cimport (
    BOOL, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, LONGDOUBLE, UINT32, UINT64, code_of, type_word)
from autograd_cy._core.graph.record cimport as_tensor, int64_of, needs_node, shape_of, shown
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.ordering_loops cimport has_equals, places_of_keys, sorting_keys
from autograd_cy._core.ops.reductions.sums cimport SAVES_INPUT, SAVES_OUTPUT, one_dim, record_reduction
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, Along
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op


# all

@cython.final
cdef class SortBackward0(Selecting):
    cdef tuple constant_names(self):
        return ("dim", "self_sym_sizes")


@op(methods=("sort",), batch=Along("dim"))
def sort(input, dim=-1, descending: bool = False, *, stable: bool = False):
    """sort(input, dim=-1, descending=False, *, stable=False) -> sort: the elements in order along `dim`.

    A named tuple of the values and of their former indices (int64). Equal elements keep their order in any case.

    >>> import autograd_cy as ag
    >>> values, indices = ag.sort(ag.tensor([3.0, 1.0, 2.0]))
    >>> values, indices
    (tensor([1., 2., 3.]), tensor([1, 2, 0]))
    """
    cdef Tensor x = as_tensor(input, "sort"), values, indices
    cdef int d = one_dim(dim, cnp.PyArray_NDIM(x.array), "sort")
    places = places_in_order(x.array, d, descending, "Sort")
    values, indices = new_tensor(elements_at(x.array, places, d)), new_tensor(places)
    return return_types.sort(record_selecting(SortBackward0, (d, shape_of(x)), x, values, indices), indices)


@op(methods=("argsort",), batch=Along("dim"))
def argsort(input, dim=-1, descending: bool = False, *, stable: bool = False):
    """argsort(input, dim=-1, descending=False, *, stable=False) -> Tensor: the indices (int64) that sort along `dim`.

    >>> import autograd_cy as ag
    >>> ag.argsort(ag.tensor([3.0, 1.0, 2.0]), descending=True)
    tensor([0, 2, 1])
    """
    cdef Tensor x = as_tensor(input, "argsort")
    places = places_in_order(x.array, one_dim(dim, cnp.PyArray_NDIM(x.array), "argsort"), descending, "Sort")
    return shown("argsort", new_tensor(places), (x,))


@op(methods=("msort",), batch=COMPOSITE)
def msort(input):
    """msort(input) -> Tensor: the elements in order along the first dimension.

    >>> import autograd_cy as ag
    >>> ag.msort(ag.tensor([[3.0, 1.0], [2.0, 4.0]]))
    tensor([[2., 1.],
            [3., 4.]])
    """
    return sort(as_tensor(input, "msort"), 0)[0]


cdef object places_in_order(cnp.ndarray array, int dim, bint descending, str operation):
    """The indices that sort along a dimension; equal elements keep their order, ascending or descending."""
    cdef int dtype_code = code_of(array)
    if dtype_code >= COMPLEX64:
        raise RuntimeError(f" {operation} does not support complex dtypes on CPU")
    if cnp.PyArray_NDIM(array) == 0:
        return np.zeros((), np.int64)
    if dtype_code in (INT64, UINT32, UINT64, FLOAT64, LONGDOUBLE):
        return long_places_in_order(array, dim, descending)
    rows = flat(in_rows(array, dim), FLOAT32 if dtype_code >= FLOAT16 else INT32)
    keys = sorting_keys(rows, descending)
    keys.sort(-1)
    return back(places_of_keys(keys), dim)


cdef object long_places_in_order(cnp.ndarray array, int dim, bint descending):
    """`places_in_order` for elements of 64 bits and more, and uint32."""
    cdef cnp.ndarray rows
    if code_of(array) == FLOAT64:               # a faster way, which may exchange equal elements
        rows = dense(in_rows(array, dim))
        places = rows.argsort(-1)
        if not has_equals(<cnp.ndarray> elements_at(rows, places, cnp.PyArray_NDIM(rows) - 1)):
            return back(np.flip(places, -1) if descending else places, dim)
    if descending:
        return cnp.PyArray_DIM(array, dim) - 1 - np.flip(np.argsort(np.flip(array, dim), dim, kind="stable"), dim)
    return np.argsort(array, dim, kind="stable")


cdef object in_rows(cnp.ndarray array, int dim):
    """The array with a dimension moved to the end."""
    return array if dim == cnp.PyArray_NDIM(array) - 1 else np.moveaxis(array, dim, -1)


cdef object back(object rows, int dim):
    """The last dimension moved back."""
    return np.ascontiguousarray(rows if dim == np.ndim(rows) - 1 else np.moveaxis(rows, -1, dim))


# one element, by rank

@cython.final
cdef class KthvalueBackward0(OneOfMany):
    pass


@cython.final
cdef class MedianBackward0(ExtremeOfAll):
    pass


@cython.final
cdef class MedianBackward1(OneOfMany):
    pass


@cython.final
cdef class NanmedianBackward0(ExtremeOfAll):
    pass


@cython.final
cdef class NanmedianBackward1(OneOfMany):
    pass


@cython.final
cdef class ModeBackward0(OneOfMany):
    pass


cdef tuple taken(object node_class, Tensor x, object places, int dim, bint keepdim):
    """(values, indices): the elements at `places`, one along the dimension, which `places` still has."""
    array = elements_at(x.array, places, dim)
    if not keepdim and cnp.PyArray_NDIM(x.array):
        array, places = array.squeeze(dim), places.squeeze(dim)
    values, indices = new_tensor(array), new_tensor(places)
    return record_selecting(node_class, (dim, keepdim, shape_of(x)), x, values, indices), indices


cdef Py_ssize_t count_along(Tensor x, int dim, str operation) except -1:
    """The number of elements along a dimension; IndexError if there are none."""
    cdef Py_ssize_t n = cnp.PyArray_DIM(x.array, dim) if cnp.PyArray_NDIM(x.array) else 1
    if n == 0:
        raise IndexError(f"{operation}(): Expected reduction dim {dim} to have non-zero size.")
    return n


cdef int check_type(Tensor x, str kernel) except -1:
    cdef int dtype_code = code_of(x.array)
    if dtype_code == BOOL or dtype_code >= COMPLEX64:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(dtype_code)}'")
    return 0


@op(methods=("kthvalue",), batch=Along("dim"))
def kthvalue(input, k: int, dim=-1, keepdim: bool = False):
    """kthvalue(input, k, dim=-1, keepdim=False) -> kthvalue: the k-th smallest element along `dim`, counted from 1.

    A named tuple of the values and of their indices (int64).

    >>> import autograd_cy as ag
    >>> ag.kthvalue(ag.tensor([3.0, 1.0, 2.0]), 2).values
    tensor(2.)
    """
    cdef Tensor x = as_tensor(input, "kthvalue")
    cdef int d = one_dim(dim, cnp.PyArray_NDIM(x.array), "kthvalue")
    cdef long long n = count_along(x, d, "kthvalue"), place = int64_of(k)
    if not 1 <= place <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    check_type(x, "kthvalue_cpu")
    places = places_in_order(x.array, d, False, "kthvalue")
    if cnp.PyArray_NDIM(x.array):
        places = np.take(places, [place - 1], d)
    return return_types.kthvalue(*taken(KthvalueBackward0, x, places, d, keepdim))


cdef object median_places(cnp.ndarray array, int dim, bint skips):
    """The indices of the (lower) medians along a dimension; without `skips` a nan is the median if there is one."""
    places = places_in_order(array, dim, False, "median")
    if cnp.PyArray_NDIM(array) == 0:
        return places
    n = cnp.PyArray_DIM(array, dim)
    nans = np.isnan(array).sum(dim, keepdims=True)
    middle = np.maximum(n - nans - 1, 0) // 2
    if not skips:
        middle = np.where(nans > 0, n - nans, middle)
    return elements_at(<cnp.ndarray> places, middle, dim)


cdef object middle_one(object input, object dim, bint keepdim, bint skips):
    """median and nanmedian in their two forms."""
    cdef str name = "nanmedian" if skips else "median"
    cdef Tensor x = as_tensor(input, name), y
    cdef int d
    check_type(x, "median_out_cpu" if dim is not None else "median_cpu")
    if dim is not None:
        d = one_dim(dim, cnp.PyArray_NDIM(x.array), name)
        count_along(x, d, name)
        found = taken(NanmedianBackward1 if skips else MedianBackward1, x, median_places(x.array, d, skips), d, keepdim)
        return (return_types.nanmedian if skips else return_types.median)(*found)
    elements = x.array.reshape(-1)
    if elements.size:
        y = new_tensor(elements[median_places(elements, 0, skips)].reshape(()))
    else:
        y = new_tensor(np.asarray(np.nan if code_of(x.array) >= FLOAT16 else np.iinfo(elements.dtype).min, elements.dtype))
    if not needs_node(x):
        return y
    return record_reduction(NanmedianBackward0 if skips else MedianBackward0, (None, False), x, y, SAVES_INPUT | SAVES_OUTPUT)


def batched_median(call, input, dim=None, keepdim=False):
    """The median of all elements is one along a dimension for samples; equal elements must share its gradient as well."""
    if dim is not None:
        return along(call, input, dim, keepdim)
    x = call.value(input).reshape(call.size, input.numel())
    y = call(x, 1)[0].detach()
    if not x.requires_grad and not x.is_floating_point():
        return y
    equal = (x == y.unsqueeze(1)).logical_or(x.isnan().logical_and(y.isnan().unsqueeze(1)))
    return x.where(equal, 0).sum(1) / equal.sum(1)


@op(methods=("median",), batch=batched_median)
def median(input, dim=None, keepdim: bool = False):
    """median(input) -> Tensor: the median of all elements, the lower one of two; equal ones share the gradient.

    median(input, dim, keepdim=False) -> (values, indices): the medians along one dimension, and the index of each. If there
    is a nan, it is the median.

    >>> import autograd_cy as ag
    >>> ag.median(ag.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    """
    return middle_one(input, dim, keepdim, False)


@op(methods=("nanmedian",), batch=batched_median)
def nanmedian(input, dim=None, keepdim: bool = False):
    """nanmedian(input) -> Tensor: the median of all elements that are not nan, the lower one of two.

    nanmedian(input, dim, keepdim=False) -> (values, indices): the medians along one dimension, and the index of each.

    >>> import autograd_cy as ag
    >>> ag.nanmedian(ag.tensor([4.0, float("nan"), 3.0]))
    tensor(3.)
    """
    return middle_one(input, dim, keepdim, True)


@op(methods=("mode",), batch=along)
def mode(input, dim=-1, keepdim: bool = False):
    """mode(input, dim=-1, keepdim=False) -> mode: the most frequent element along `dim`, the smallest of several.

    A named tuple of the values and of their indices (int64), the last among equal elements.

    >>> import autograd_cy as ag
    >>> ag.mode(ag.tensor([2.0, 1.0, 2.0])).values
    tensor(2.)
    """
    cdef Tensor x = as_tensor(input, "mode")
    cdef int d = one_dim(dim, cnp.PyArray_NDIM(x.array), "mode")
    if code_of(x.array) >= COMPLEX64:
        raise NotImplementedError(f"\"mode_cpu\" not implemented for '{type_word(code_of(x.array))}'")
    count_along(x, d, "mode")
    places = places_in_order(x.array, d, False, "mode")
    if cnp.PyArray_NDIM(x.array):
        places = elements_at(<cnp.ndarray> places, most_frequent(elements_at(x.array, places, d), d), d)
    return return_types.mode(*taken(ModeBackward0, x, places, d, keepdim))


cdef object most_frequent(object ordered, int dim):
    """The end of the longest run of equal elements along a dimension."""
    rows = np.moveaxis(ordered, dim, -1)
    numbers = np.arange(rows.shape[-1])
    ends = np.ones(rows.shape, bool)
    ends[..., :-1] = rows[..., 1:] != rows[..., :-1]
    before = np.full(rows.shape, -1)
    before[..., 1:] = np.maximum.accumulate(np.where(ends, numbers, -1), -1)[..., :-1]
    longest = np.argmax(np.where(ends, numbers - before, 0), -1)
    return np.expand_dims(longest, dim)
