"""topk: the largest or the smallest elements along a dimension, with their indices. NaN counts as the largest."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast, dense
from autograd_cy._core.arrays.dtypes cimport BFLOAT16, BOOL, COMPLEX64, FLOAT32, code_of
from autograd_cy._core.graph.record cimport as_tensor, int64_of, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.ordering_loops cimport FEW, few_extreme_places
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op

cdef enum:
    MANY = 1024         # above this, only k elements are sorted: choice and order among equal elements are then unspecified


@cython.final
cdef class TopkBackward0(Selecting):
    cdef tuple constant_names(self):
        return ("dim", "self_sym_sizes")


@op(methods=("topk",), batch=Along("dim"))
def topk(input, k: int, dim=-1, largest: bool = True, sorted: bool = True):
    """topk(input, k, dim=-1, largest=True, sorted=True) -> topk: the k largest elements along `dim`, in order.

    A named tuple of the values and their indices (int64). With largest=False the k smallest. The result is sorted even with
    sorted=False.

    >>> import autograd_cy as ag
    >>> ag.topk(ag.tensor([3.0, 1.0, 4.0]), 2).values
    tensor([4., 3.])
    """
    cdef Tensor x = as_tensor(input, "topk"), values, indices
    cdef int dtype_code = code_of(x.array), ndim = cnp.PyArray_NDIM(x.array), d = wrap_dim(dim, ndim or 1)
    cdef long long count = int64_of(k), n = cnp.PyArray_DIM(x.array, d) if ndim else 1
    if not 0 <= count <= n:
        raise RuntimeError(f"selected index k out of range (topk() of {n} elements, k is {count})")
    if dtype_code == BOOL or dtype_code >= COMPLEX64:
        raise RuntimeError(f"topk does not support {'bool' if dtype_code == BOOL else 'complex'} dtypes on CPU")
    array = x.array if ndim else x.array.reshape(1)
    numbers = extreme_places(array, count, n, d, largest)
    indices = new_tensor(numbers.reshape((-1,)[:0]) if not ndim and count else numbers)
    values = new_tensor(elements_at(array, numbers, d).reshape(np.shape(indices.array)))
    return return_types.topk(record_selecting(TopkBackward0, (d, shape_of(x)), x, values, indices), indices)


cdef object extreme_places(object array, long long count, long long n, int dim, bint largest):
    """The indices of the `count` largest or smallest elements along a dimension, in order."""
    if code_of(array) == BFLOAT16:              # its sorts don't put nan last
        array = cast(array, FLOAT32)
    if 0 < count <= FEW and n and array.dtype.char in "fd":
        rows = dense(array if dim == array.ndim - 1 else np.moveaxis(array, dim, -1))
        places = few_extreme_places(rows, count, largest)
        return places if dim == array.ndim - 1 else np.ascontiguousarray(np.moveaxis(places, -1, dim))
    if 0 < count < n and n > MANY:
        places = np.argpartition(array, n - count if largest else count - 1, dim)
        places = np.take(places, range(n - count, n) if largest else range(count), dim)
        order = np.argsort(np.take_along_axis(array, places, dim), dim, kind="stable")
        places = np.take_along_axis(places, order, dim)
        return np.ascontiguousarray(np.flip(places, dim) if largest else places)
    if largest:             # from the end, so that the first of equal elements comes first here, too
        places = n - 1 - np.flip(np.argsort(np.flip(array, dim), dim, kind="stable"), dim)
    else:
        places = np.argsort(array, dim, kind="stable")
    return np.ascontiguousarray(np.take(places, range(count), dim))
