"""Sums, means and products along dimensions, and whether any or all elements are true.

For `dim` and `keepdim` of an operation: dim is a dimension or (prod: not) several, negative ones counted
from the end; without it all elements are reduced. keepdim leaves the reduced dimensions in place with size 1.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, cast, dense_copy
from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, FLOAT32, UINT8, code_of, is_half, type_word
from autograd_cy._core.graph.node cimport Request, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node, shape_of, show
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.reduction_loops cimport (
    ALL_TRUE, ANY_TRUE, PRODUCT, Dims, Reducer, count_along, divide_by, expanded, mean_of, reduced, total_of)
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat


# sum and mean

cdef class LinearReduction(Reduction):
    """The node of sum and mean; third constant: the sizes of the input."""

    cdef object vjp_array(self, object gradient, int i, Request *request):
        cdef cnp.ndarray g = <cnp.ndarray> gradient
        cdef tuple sizes = <tuple> self.constants[2]
        if code_of(g) != self.dtype_codes[0]:
            g = cast(g, self.dtype_codes[0])
        g = expanded(self.scaled(g), sizes, dims_of(self.constants[0], len(sizes), ""))
        # a few elements: dense, so that later operations take the fast path
        return dense_copy(g) if cnp.PyArray_SIZE(g) <= thresholds.few else g

    cdef object vjp_samples(self, cnp.ndarray g, int i, Request *request):
        cdef tuple sizes = <tuple> self.constants[2]
        if code_of(g) != self.dtype_codes[0] or len(sizes) + 1 >= MAX_DIMS:
            return None
        g = expanded(self.scaled(g), (cnp.PyArray_DIM(g, 0),) + sizes, dims_of(self.constants[0], len(sizes), "") << 1)
        return dense_copy(g) if cnp.PyArray_SIZE(g) <= thresholds.few else g

    cdef object vjp(self, object g, int i):
        cdef tuple sizes = <tuple> self.constants[2]
        g = with_kept(in_type(g, self.dtype_codes[0]), sizes, dims_of(self.constants[0], len(sizes), ""))
        return self.scaled_tensor(g).expand(sizes)

    cdef tuple arguments(self):
        return self.constants[:2]

    cdef cnp.ndarray scaled(self, cnp.ndarray g):
        return g

    cdef object scaled_tensor(self, object g):
        return g


cdef class SumBackward(LinearReduction):
    pass


@cython.final
cdef class SumBackward0(SumBackward):
    cdef tuple constant_names(self):
        return (None, None, "self_sym_sizes")


@cython.final
cdef class SumBackward1(SumBackward):
    cdef tuple constant_names(self):
        return ("dim", "keepdim", "self_sym_sizes")


cdef class MeanBackward(LinearReduction):
    """Fourth constant: the number of elements of the input; fifth: the number of elements of one mean."""

    cdef cnp.ndarray scaled(self, cnp.ndarray g):
        g = dense_copy(g)
        divide_by(g, self.constants[4])
        return g

    cdef object scaled_tensor(self, object g):
        return g / self.constants[4] if self.constants[4] else g        # an empty mean has no elements to expand to


@cython.final
cdef class MeanBackward0(MeanBackward):
    cdef tuple constant_names(self):
        return (None, None, "self_sym_sizes", "self_sym_numel")


@cython.final
cdef class MeanBackward1(MeanBackward):
    cdef tuple constant_names(self):
        return ("dim", "keepdim", "self_sym_sizes", "self_sym_numel")


@op(methods=("sum",), linear=SumBackward, batch=Along("dim", "all"))
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """sum(input, dim=None, keepdim=False, *, dtype=None) -> Tensor: the sum of all elements, or along `dim`.

    Integers and bools are summed in int64, unless `dtype` asks for another type.

    >>> import autograd_cy as ag
    >>> ag.sum(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([4., 6.])
    """
    cdef Tensor x = as_tensor(input, "sum")
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), "sum")
    cdef Tensor y = new_tensor(total_of(x.array, sum_code(x.array, dtype), dims, keepdim))
    if not needs_node(x):
        return y
    if dim is None:
        return record_reduction(SumBackward0, (None, False, shape_of(x)), x, y, SAVES_NOTHING)
    return record_reduction(SumBackward1, (dim_tuple(dims), keepdim, shape_of(x)), x, y, SAVES_NOTHING)


@op(methods=("mean",), linear=MeanBackward, batch=Along("dim", "all"))
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """mean(input, dim=None, keepdim=False, *, dtype=None) -> Tensor: the mean of all elements, or along `dim`.

    RuntimeError for integers and bools, unless `dtype` asks for a floating point or complex type. An empty mean is nan.

    >>> import autograd_cy as ag
    >>> ag.mean(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([1.5000, 3.5000])
    """
    cdef Tensor x = as_tensor(input, "mean")
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), "mean")
    cdef Py_ssize_t count = count_along(x.array, dims)
    cdef Tensor y = new_tensor(mean_of(x.array, mean_code(x.array, dtype), dims, keepdim))
    if not needs_node(x):
        return y
    if dim is None:
        return record_reduction(MeanBackward0, (None, False, shape_of(x), count, count), x, y, SAVES_NOTHING)
    return record_reduction(MeanBackward1, (dim_tuple(dims), keepdim, shape_of(x), cnp.PyArray_SIZE(x.array), count), x, y,
                            SAVES_NOTHING)


cdef int mean_code(cnp.ndarray array, object wanted) except -1:
    cdef int dtype_code = type_in(array, wanted)
    if dtype_code < FLOAT16:
        raise RuntimeError(f"mean(): could not infer output dtype. {'Input' if wanted is None else 'Optional'} dtype must be "
                           f"either a floating point or complex dtype. Got: {type_word(dtype_code)}")
    return dtype_code


# prod

cdef class ProdBackward(WeightedReduction):
    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef object weights(self):
        """For each element the product of the others (its conjugate: the derivative is holomorphic)."""
        cdef object x = in_type(unpack(self, 0), self.dtype_codes[1])
        cdef cnp.ndarray array = (<Tensor> x).array
        if cnp.PyArray_NDIM(array) == 0:
            return new_tensor(np.ones_like(array))
        if array.all():
            return (self.spread(unpack(self, 2)) / x).conj()
        if self.constants[0] is None:
            if np.isnan(unpack(self, 2).item()) and np.count_nonzero(array) < array.size - 1:
                return new_tensor(np.zeros_like(array))     # two zeros make all products zero, as in PyTorch
            return others(x.reshape(-1)).reshape(shape_of(x)).conj()
        return others(x.transpose(self.constants[0], -1)).transpose(self.constants[0], -1).conj()


cdef object others(object x):
    """For each element the product of all others along the last dimension, without dividing.

    Works on pairs: the others of an element are its partner and the other pairs.
    """
    cdef tuple sizes = shape_of(<Tensor> x)
    cdef tuple rows = sizes[:len(sizes) - 1]
    cdef Py_ssize_t n = sizes[len(sizes) - 1] if sizes else 1
    if n == 1:
        return new_tensor(np.ones_like((<Tensor> x).array))
    if n % 2:
        one = new_tensor(np.ones(rows + (1,), (<Tensor> x).array.dtype))
        return others(cat([x, one], -1)).split((n, 1), -1)[0]
    pairs = x.reshape(rows + (n // 2, 2))
    left, right = pairs.unbind(-1)
    return (pairs.flip(-1) * others(left * right).unsqueeze(-1)).reshape(sizes)


@cython.final
cdef class ProdBackward0(ProdBackward):
    pass


@cython.final
cdef class ProdBackward1(ProdBackward):
    cdef tuple constant_names(self):
        return ("dim", "keepdim")


@op(methods=("prod",), batch=Along("dim", "flat"))
def prod(input, dim=None, keepdim=False, *, dtype=None):
    """prod(input, dim=None, keepdim=False, *, dtype=None) -> Tensor: the product of all elements, or along one dimension.

    Integers and bools are multiplied in int64, unless `dtype` asks for another type. Gradients are exact at zeros, too.

    >>> import autograd_cy as ag
    >>> ag.prod(ag.tensor([2.0, 3.0, 4.0]))
    tensor(24.)
    """
    cdef Tensor x = as_tensor(input, "prod")
    cdef int ndim = cnp.PyArray_NDIM(x.array), dtype_code = sum_code(x.array, dtype)
    cdef Dims dims = dims_of(None, ndim, "prod") if dim is None else (<Dims> 1) << one_dim(dim, ndim, "prod")
    cdef int wide = FLOAT32 if is_half(dtype_code) else dtype_code
    cdef cnp.ndarray array = reduced(&PRODUCT, x.array if code_of(x.array) == wide else cast(x.array, wide), dims, keepdim)
    cdef Tensor y = new_tensor(array if wide == dtype_code else cast(array, dtype_code))
    if not needs_node(x):
        return y
    if dim is None:
        return record_reduction(ProdBackward0, (None, False), x, y, SAVES_INPUT | SAVES_OUTPUT)
    return record_reduction(ProdBackward1, (one_dim(dim, ndim, "prod"), keepdim), x, y, SAVES_INPUT | SAVES_OUTPUT)


# any and all

cdef Tensor truth(Reducer *reducer, object input, object dim, bint keepdim, str operation):
    cdef Tensor x = as_tensor(input, operation)
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), operation)
    if isinstance(dim, (tuple, list)) and not dim:
        dims = 0                                # along no dimension: like PyTorch, unlike sum
    cdef int dtype_code = code_of(x.array)
    cdef cnp.ndarray array = reduced(reducer, x.array if dtype_code == BOOL else cast(x.array, BOOL), dims, keepdim)
    cdef Tensor y = new_tensor(cast(array, UINT8) if dtype_code == UINT8 else array)
    show(operation, y, (x,))
    return y


@op(methods=("any",), batch=Along("dim", "flat"))
def any(input, dim=None, keepdim=False):
    """any(input, dim=None, keepdim=False) -> Tensor: whether any element, or any along `dim`, is not zero; a bool tensor.

    For uint8 the result is uint8.

    >>> import autograd_cy as ag
    >>> ag.any(ag.tensor([[0, 0], [0, 1]]), dim=1)
    tensor([False,  True])
    """
    return truth(&ANY_TRUE, input, dim, keepdim, "any")


@op(methods=("all",), batch=Along("dim", "flat"))
def all(input, dim=None, keepdim=False):
    """all(input, dim=None, keepdim=False) -> Tensor: whether all elements, or all along `dim`, are not zero; a bool tensor.

    For uint8 the result is uint8.

    >>> import autograd_cy as ag
    >>> ag.all(ag.tensor([[0, 1], [1, 1]]), dim=1)
    tensor([False,  True])
    """
    return truth(&ALL_TRUE, input, dim, keepdim, "all")
