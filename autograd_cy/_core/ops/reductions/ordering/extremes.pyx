"""The largest and the smallest elements: their values and their indices.

Among equal elements the first one gives the index. An operation that returns only values shares its gradient equally among
them; one that returns an index (`max` along a dimension) gives it all to the indexed element.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, code_of, type_word
from autograd_cy._core.graph.node cimport Node, Request, saved_array
from autograd_cy._core.graph.record cimport as_tensor, needs_node, shape_of, show
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.reduction_loops cimport LARGEST, SMALLEST, Dims, reduced, reduced_sizes, shared_gradient
from autograd_cy._core.ops.reductions.sums cimport (
    SAVES_INPUT, SAVES_OUTPUT, WeightedReduction, dim_tuple, dims_of, in_type, one_dim, record_reduction)
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import Along, elementwise
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op

cdef extern from "numpy/arrayobject.h":
    object PyArray_ArgMax(cnp.ndarray, int, void *)
    object PyArray_ArgMin(cnp.ndarray, int, void *)


# values

cdef class Extreme(WeightedReduction):
    """The gradient is shared among the elements that equal the result."""

    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef object weights(self):
        cdef cnp.ndarray x = saved_array(self, 0), y = saved_array(self, 2)
        cdef Dims dims = dims_of(self.constants[0], cnp.PyArray_NDIM(x), "")
        y = y.reshape(reduced_sizes(x, dims, True))
        equal = self.is_result(x, y)
        count = np.sum(equal, dim_tuple(dims) if cnp.PyArray_NDIM(x) else None, keepdims=True)
        count = np.maximum(count, ~np.isnan(y))         # after an overwrite no element may equal the result
        with np.errstate(invalid="ignore"):
            return new_tensor(cast(np.asarray(np.divide(equal, count)), code_of(x)))

    cdef object vjp(self, object g, int i):
        """Other elements get zeros, even if the gradient is infinite."""
        weights = self.weights()
        return in_type(self.spread(g) * weights, self.dtype_codes[0]).masked_fill(weights == 0, 0)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef cnp.ndarray x = saved_array(self, 0)
        cdef Dims dims = dims_of(self.constants[0], cnp.PyArray_NDIM(x), "")
        result = shared_gradient(<cnp.ndarray> g, x, saved_array(self, 2), dims, isinstance(self, ExtremeOfAll))
        return Node.vjp_array(self, g, i, request) if result is None else result

    cdef object is_result(self, object x, object y):
        return np.equal(x, y)


cdef class ExtremeOfAll(Extreme):
    cdef object is_result(self, object x, object y):
        return np.equal(x, y) | (np.isnan(x) & np.isnan(y))


cdef class ExtremeAlong(Extreme):
    cdef tuple constant_names(self):
        return ("dim", "keepdim")


@cython.final
cdef class MaxBackward1(ExtremeOfAll):
    pass


@cython.final
cdef class MinBackward1(ExtremeOfAll):
    pass


@cython.final
cdef class AmaxBackward0(ExtremeAlong):
    pass


@cython.final
cdef class AminBackward0(ExtremeAlong):
    pass


cdef int check_not_empty(cnp.ndarray array, Dims dims, str operation) except -1:
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(array)):
        if dims >> axis & 1 and cnp.PyArray_DIM(array, axis) == 0:
            raise IndexError(f"{operation}(): Expected reduction dim {axis} to have non-zero size.")
    return 0


cdef int check_some(cnp.ndarray array, str operation) except -1:
    if cnp.PyArray_SIZE(array) == 0:
        raise RuntimeError(f"{operation}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                           "reduction dim with the 'dim' argument.")
    return 0


cdef int check_ordered(cnp.ndarray array, str kernel) except -1:
    cdef int dtype_code = code_of(array)
    if dtype_code >= COMPLEX64:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(dtype_code)}'")
    return 0


cdef Tensor extreme_of_all(Tensor x, bint largest):
    cdef str name = "max" if largest else "min"
    check_some(x.array, name)
    check_ordered(x.array, f"{name}_all")
    cdef Dims dims = dims_of(None, cnp.PyArray_NDIM(x.array), name)
    cdef Tensor y = new_tensor(reduced(&LARGEST if largest else &SMALLEST, x.array, dims, False))
    if not needs_node(x):
        return y
    return record_reduction(MaxBackward1 if largest else MinBackward1, (None, False), x, y, SAVES_INPUT | SAVES_OUTPUT)


cdef Tensor extreme_along(object input, object dim, bint keepdim, bint largest):
    cdef str name = "amax" if largest else "amin"
    cdef Tensor x = as_tensor(input, name)
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), name)
    if dim is None or type(dim) is tuple and not dim:
        check_some(x.array, name)
    check_not_empty(x.array, dims, name)
    check_ordered(x.array, f"{name[1:]}_values_cpu")
    cdef Tensor y = new_tensor(reduced(&LARGEST if largest else &SMALLEST, x.array, dims, keepdim))
    if not needs_node(x):
        return y
    cdef tuple constants = (dim_tuple(dims) if dim or dim == 0 else (), keepdim)
    return record_reduction(AmaxBackward0 if largest else AminBackward0, constants, x, y, SAVES_INPUT | SAVES_OUTPUT)


@op(methods=("amax",), batch=Along("dim", "all"))
def amax(input, dim=(), keepdim=False):
    """amax(input, dim=(), keepdim=False) -> Tensor: the largest of all elements, or along `dim`, one or several.

    Equal elements share the gradient. RuntimeError or IndexError if there are no elements.

    >>> import autograd_cy as ag
    >>> ag.amax(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([4., 3.])
    """
    return extreme_along(input, dim, keepdim, True)


@op(methods=("amin",), batch=Along("dim", "all"))
def amin(input, dim=(), keepdim=False):
    """amin(input, dim=(), keepdim=False) -> Tensor: the smallest of all elements, or along `dim`, one or several.

    Equal elements share the gradient. RuntimeError or IndexError if there are no elements.

    >>> import autograd_cy as ag
    >>> ag.amin(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([1., 2.])
    """
    return extreme_along(input, dim, keepdim, False)


# indices

cdef cnp.ndarray indices_of(cnp.ndarray array, int dim, bint largest):
    """The index of the extreme element along `dim`; the result lacks that dimension."""
    if cnp.PyArray_NDIM(array) == 0:
        array = array.reshape(1)
    return <cnp.ndarray> (PyArray_ArgMax(array, dim, NULL) if largest else PyArray_ArgMin(array, dim, NULL))


cdef Tensor index_of_extreme(object input, object dim, bint keepdim, bint largest):
    cdef str name = "argmax" if largest else "argmin"
    cdef Tensor x = as_tensor(input, name)
    cdef int ndim = cnp.PyArray_NDIM(x.array), dtype_code = code_of(x.array)
    cdef Dims dims = dims_of(None, ndim, name) if dim is None else (<Dims> 1) << one_dim(dim, ndim, name)
    cdef cnp.ndarray array
    if dtype_code == BOOL or dtype_code >= COMPLEX64:
        raise RuntimeError(f"{name}(): does not support {'bool' if dtype_code == BOOL else 'complex'} input")
    if dim is None and cnp.PyArray_SIZE(x.array) == 0:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    check_not_empty(x.array, dims, name)
    if dim is None:
        array = indices_of(x.array.reshape(-1), 0, largest)
    else:
        array = indices_of(x.array, one_dim(dim, ndim, name), largest)
    cdef Tensor y = new_tensor(array.reshape(reduced_sizes(x.array, dims, True)) if keepdim else array)
    show(name, y, (x,))
    return y


@op(methods=("argmax",), batch=Along("dim", "flat"))
def argmax(input, dim=None, keepdim=False):
    """argmax(input, dim=None, keepdim=False) -> Tensor: the index of the largest element along `dim`, int64.

    Without `dim` it is the index among the flattened elements.

    >>> import autograd_cy as ag
    >>> ag.argmax(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    return index_of_extreme(input, dim, keepdim, True)


@op(methods=("argmin",), batch=Along("dim", "flat"))
def argmin(input, dim=None, keepdim=False):
    """argmin(input, dim=None, keepdim=False) -> Tensor: the index of the smallest element along `dim`, int64.

    Without `dim` it is the index among the flattened elements.

    >>> import autograd_cy as ag
    >>> ag.argmin(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([0, 1])
    """
    return index_of_extreme(input, dim, keepdim, False)


# values with their indices

@cython.final
cdef class MaxBackward0(OneOfMany):
    pass


@cython.final
cdef class MinBackward0(OneOfMany):
    pass


cdef object extreme_with_index(Tensor x, object dim, bint keepdim, bint largest):
    cdef str name = "max" if largest else "min"
    cdef int d = one_dim(dim, cnp.PyArray_NDIM(x.array), name)
    cdef Dims dims = (<Dims> 1) << d
    cdef Tensor values, indices
    check_not_empty(x.array, dims, name)
    if code_of(x.array) >= COMPLEX64:
        raise RuntimeError(f"{name}(): does not support complex input")
    cdef cnp.ndarray array = reduced(&LARGEST if largest else &SMALLEST, x.array, dims, keepdim)
    values = new_tensor(array)
    indices = new_tensor(indices_of(x.array, d, largest).reshape(np.shape(array)))
    record_selecting(MaxBackward0 if largest else MinBackward0, (d, keepdim, shape_of(x)), x, values, indices)
    return (return_types.max if largest else return_types.min)(values, indices)


cdef object extreme(object input, object dim, bint keepdim, object other, bint largest):
    """max and min in their three forms."""
    cdef Tensor x = as_tensor(input, "max" if largest else "min")
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        return input.maximum(other) if largest else input.minimum(other)
    return extreme_of_all(x, largest) if dim is None else extreme_with_index(x, dim, keepdim, largest)


along = Along("dim")


def batched_extreme(call, input, dim=None, keepdim=False, *, other=None):
    """max and min: of all elements, along a dimension, or of two tensors."""
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return elementwise(call, input, other)
    if dim is None:
        function = amax if call.function is max else amin
        x = call.value(input)
        return function(x, tuple(range(1, x.ndim))) if x.ndim > 1 else x.clone()
    return along(call, input, dim, keepdim)


@op(methods=("max",), batch=batched_extreme)
def max(input, dim=None, keepdim=False, *, other=None):
    """max(input) -> Tensor: the largest element; equal ones share the gradient.

    max(input, dim, keepdim=False) -> (values, indices): the largest elements along one dimension, and the first index of
    each, which receives the gradient. max(input, other) is maximum(input, other).

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 4.0], [3.0, 2.0]])
    >>> ag.max(x), ag.max(x, dim=1).indices
    (tensor(4.), tensor([1, 0]))
    """
    return extreme(input, dim, keepdim, other, True)


@op(methods=("min",), batch=batched_extreme)
def min(input, dim=None, keepdim=False, *, other=None):
    """min(input) -> Tensor: the smallest element; equal ones share the gradient.

    min(input, dim, keepdim=False) -> (values, indices): the smallest elements along one dimension, and the first index of
    each, which receives the gradient. min(input, other) is minimum(input, other).

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 4.0], [3.0, 2.0]])
    >>> ag.min(x), ag.min(x, dim=1).indices
    (tensor(1.), tensor([0, 1]))
    """
    return extreme(input, dim, keepdim, other, False)
