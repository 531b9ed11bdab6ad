"""Running sums, products, extremes and logarithms of sums of exponentials along one dimension."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT64, code_of, is_half, type_word
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, saved_like, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node, new_node, record, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.ordering_loops cimport (
    accumulated, logsumexp_gradient, product_gradient, running_extremes, running_logsumexp, sums_at)
from autograd_cy._core.kernels.reduction_loops cimport ADD, MULTIPLY
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.ops.reductions.ordering cimport Selecting
from autograd_cy._core.ops.reductions.sums cimport (
    SAVES_INPUT, SAVES_NOTHING, SAVES_OUTPUT, Reduction, in_type, one_dim, record_reduction, sum_code)
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.arrays.dtypes import finfo_of
from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import inplace_op, op
from autograd_cy._core.ops.shapes.joining import stack
from autograd_cy._core.ops.shapes.reshaping import flip


cdef class Scan(Reduction):
    """Constant: the dimension."""

    cdef tuple constant_names(self):
        return ("dim",)


cdef class OfSaved(Scan):
    cdef tuple saved_names(self):
        return ("self", None, "result")


# sums

@cython.final
cdef class CumsumBackward0(Scan):
    cdef object vjp_array(self, object g, int i, Request *request):
        return running_total(<cnp.ndarray> g, self.dtype_codes[0], self.constants[0], ADD, True)

    cdef object vjp(self, object g, int i):
        return running_sums_back(in_type(g, self.dtype_codes[0]), self.constants[0])

    cdef tuple arguments(self):
        return self.constants[:1]


cdef object running_sums_back(object g, int dim):
    """The sums of the elements from each one on."""
    return flip(cumsum(flip(g, dim), dim), dim)


@op(methods=("cumsum",), linear=CumsumBackward0, batch=Along("dim"))
def cumsum(input, dim, *, dtype=None):
    """cumsum(input, dim, *, dtype=None) -> Tensor: the sums of the elements up to each one along `dim`.

    Integers and bools are summed in int64, unless `dtype` asks for another type.

    >>> import autograd_cy as ag
    >>> ag.cumsum(ag.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 3., 6.])
    """
    cdef Tensor x = as_tensor(input, "cumsum")
    cdef int d = one_dim(dim, cnp.PyArray_NDIM(x.array), "cumsum"), dtype_code = sum_code(x.array, dtype)
    cdef Tensor y = new_tensor(running_total(x.array, dtype_code, d, ADD, False))
    return record_reduction(CumsumBackward0, (d,), x, y, SAVES_NOTHING) if needs_node(x) else y


cdef cnp.ndarray running_total(cnp.ndarray array, int dtype_code, int dim, int how, bint backwards):
    """The running sums or products in the type `dtype_code`; float16 is computed in float32."""
    if is_half(dtype_code):
        return cast(running_total(array, FLOAT32, dim, how, backwards), dtype_code)
    array = cast(array, dtype_code)                 # a new array, dense
    if dtype_code == FLOAT32 or dtype_code == FLOAT64:
        return accumulated(array, dim, how, backwards)
    if cnp.PyArray_NDIM(array) == 0 or cnp.PyArray_SIZE(array) == 0:       # without elements there may still be 2**40 columns
        return array
    if backwards:
        return np.ascontiguousarray(np.flip(np.flip(array, dim).cumsum(dim, array.dtype), dim))
    return array.cumsum(dim, array.dtype) if how == ADD else array.cumprod(dim, array.dtype)


def cumsum_(Tensor self, dim, *, dtype=None):
    """cumsum_(dim, *, dtype=None) -> Tensor: cumsum() written into the tensor's own memory."""
    return in_place("cumsum_", lambda x: cumsum(x, dim, dtype=dtype), self, ())


# products

@cython.final
cdef class CumprodBackward0(OfSaved):
    cdef object vjp_array(self, object g, int i, Request *request):
        array = product_gradient(saved_array(self, 0), <cnp.ndarray> g, self.constants[0])
        return Node.vjp_array(self, g, i, request) if array is None else array

    cdef object vjp(self, object g, int i):
        cdef object x = in_type(unpack(self, 0), self.dtype_codes[1]).conj()
        cdef int d = self.constants[0]
        if cnp.PyArray_NDIM((<Tensor> x).array) == 0 or x.shape[d] == 1:
            return in_type(g, self.dtype_codes[0])
        if (<Tensor> x).array.all():
            g = running_sums_back(g * unpack(self, 2).conj(), d) / x
        else:
            g = slopes_at_zeros(x, g, d)
        return in_type(g, self.dtype_codes[0])


cdef object slopes_at_zeros(object x, object g, int dim):
    """Like `product_slopes` (scan_loops.pyx), by recorded operations."""
    cdef list before = [], after = []
    cdef object total = None
    cdef tuple xs = x.unbind(dim), gs = g.unbind(dim)
    cdef Py_ssize_t k, n = len(xs)
    for k in range(n):
        before.append(total)
        total = xs[k] if total is None else total * xs[k]
    for k in reversed(range(n)):
        total = gs[k] if not after else gs[k] + total * xs[k + 1]
        after.append(total)
    return stack([b if a is None else a * b for a, b in zip(before, reversed(after))], dim)


@op(methods=("cumprod",), batch=Along("dim"))
def cumprod(input, dim, *, dtype=None):
    """cumprod(input, dim, *, dtype=None) -> Tensor: the products of the elements up to each one along `dim`.

    Integers and bools are multiplied in int64, unless `dtype` asks for another type. Gradients are exact at zeros, too.

    >>> import autograd_cy as ag
    >>> ag.cumprod(ag.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 2., 6.])
    """
    cdef Tensor x = as_tensor(input, "cumprod")
    cdef int d = one_dim(dim, cnp.PyArray_NDIM(x.array), "cumprod"), dtype_code = sum_code(x.array, dtype)
    cdef Tensor y = new_tensor(running_total(x.array, dtype_code, d, MULTIPLY, False))
    return record_reduction(CumprodBackward0, (d,), x, y, SAVES_INPUT | SAVES_OUTPUT) if needs_node(x) else y


def cumprod_(Tensor self, dim, *, dtype=None):
    """cumprod_(dim, *, dtype=None) -> Tensor: cumprod() written into the tensor's own memory."""
    return in_place("cumprod_", lambda x: cumprod(x, dim, dtype=dtype), self, ())


inplace_op(cumsum_, cumsum)
inplace_op(cumprod_, cumprod)


# extremes

cdef class RunningExtreme(Selecting):
    """An element may be the result at several places."""

    cdef tuple saved_names(self):
        return ("indices", "self", None)

    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp_array(self, object g, int i, Request *request):
        array = sums_at(<cnp.ndarray> g, saved_array(self, 0), self.constants[0])
        return Node.vjp_array(self, g, i, request) if array is None else array

    cdef object vjp(self, object g, int i):
        return (<object> zeros_as(g, self.constants[1])).scatter_add(self.constants[0], unpack(self, 0), g)


@cython.final
cdef class CummaxBackward0(RunningExtreme):
    pass


@cython.final
cdef class CumminBackward0(RunningExtreme):
    pass


cdef object running_extreme(object input, object dim, bint largest):
    cdef str name = "cummax" if largest else "cummin"
    cdef Tensor x = as_tensor(input, name), values, indices
    cdef int dtype_code = code_of(x.array), d = one_dim(dim, cnp.PyArray_NDIM(x.array), name)
    cdef Node node
    if dtype_code >= COMPLEX64:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{type_word(dtype_code)}'")
    array, places = running_extremes(
        cast(x.array, INT64 if dtype_code < FLOAT16 else max(dtype_code, <int> FLOAT32)), d, largest)
    values, indices = new_tensor(array if code_of(array) == dtype_code else cast(array, dtype_code)), new_tensor(places)
    if needs_node(x):
        node = new_node(CummaxBackward0 if largest else CumminBackward0, (d, shape_of(x)))
        save_input(node, 0, indices)
        save_input(node, 1, x)
        record(node, values, x)
    return (return_types.cummax if largest else return_types.cummin)(values, indices)


@op(methods=("cummax",), batch=Along("dim"))
def cummax(input, dim):
    """cummax(input, dim) -> cummax: the largest elements up to each one along `dim`.

    A named tuple of the values and of their indices (int64), the last among equal elements. After a nan all are nan.

    >>> import autograd_cy as ag
    >>> ag.cummax(ag.tensor([1.0, 3.0, 2.0]), 0).values
    tensor([1., 3., 3.])
    """
    return running_extreme(input, dim, True)


@op(methods=("cummin",), batch=Along("dim"))
def cummin(input, dim):
    """cummin(input, dim) -> cummin: the smallest elements up to each one along `dim`.

    A named tuple of the values and of their indices (int64), the last among equal elements. After a nan all are nan.

    >>> import autograd_cy as ag
    >>> ag.cummin(ag.tensor([2.0, 3.0, 1.0]), 0).values
    tensor([2., 2., 1.])
    """
    return running_extreme(input, dim, False)


# logarithms of sums of exponentials

@cython.final
cdef class LogcumsumexpBackward0(OfSaved):
    cdef object vjp_array(self, object g, int i, Request *request):
        y = saved_like(self, 2, <cnp.ndarray> g)
        array = logsumexp_gradient(saved_array(self, 0), y, <cnp.ndarray> g, self.constants[0])
        return Node.vjp_array(self, g, i, request) if array is None else array

    cdef object vjp(self, object g, int i):
        cdef object x = unpack(self, 0), y = unpack(self, 2), low
        cdef int d = self.constants[0]
        if not cnp.PyArray_SIZE((<Tensor> y).array):
            return g
        if not g.is_complex():
            low = y.detach() == -np.inf         # all elements so far are -inf
            if low.any():
                below = running_sums_back(g.where(low, 0), d).where(low, 0)
                return self.slopes(g.where(~low, 0), x.where(~low, 0), y.where(~low, 0), d).where(~low, below)
        return self.slopes(g, x, y, d)

    cdef object slopes(self, object g, object x, object y, int d):
        cdef object heights = (<Tensor> y).array.real
        top = heights.max(d, keepdims=True) if heights.ndim else heights
        if not (top - heights < 80).all() and not g.is_complex():
            return slopes_far_apart(g, x, y, d)
        shift = new_tensor(np.asarray(top))
        return running_sums_back(g * (shift - y).exp().conj(), d) * (x - shift).exp().conj()


cdef object slopes_far_apart(object g, object x, object y, int dim):
    """The gradient if exp(-y) may overflow: computed by logarithms, separately for each sign of g."""
    logs = g.abs().where(g != 0, 1).log() - y
    total = None
    for sign in (1, -1):
        chosen = logs.where(g * sign > 0, float(finfo_of((<Tensor> g).array.dtype).min))
        part = (flip(logcumsumexp(flip(chosen, dim), dim), dim) + x).exp()
        total = part if total is None else total - part
    return total


@op(methods=("logcumsumexp",), batch=Along("dim"))
def logcumsumexp(input, dim):
    """logcumsumexp(input, dim) -> Tensor: the logarithms of the sums of exp(x) up to each element along `dim`.

    Intermediate results don't overflow.

    >>> import autograd_cy as ag
    >>> ag.logcumsumexp(ag.tensor([100.0, 100.0, 102.0]), 0)
    tensor([100.0000, 100.6931, 102.2395])
    """
    cdef Tensor x = as_tensor(input, "logcumsumexp"), y
    cdef int dtype_code = code_of(x.array), d = one_dim(dim, cnp.PyArray_NDIM(x.array), "logcumsumexp")
    if dtype_code < FLOAT16:
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{type_word(dtype_code)}'")
    if dtype_code >= COMPLEX64:
        y = new_tensor(complex_logsumexp(cast(x.array, dtype_code), d))
    else:
        array = running_logsumexp(cast(x.array, max(dtype_code, <int> FLOAT32)), d)
        y = new_tensor(cast(array, dtype_code) if is_half(dtype_code) else array)
    return record_reduction(LogcumsumexpBackward0, (d,), x, y, SAVES_INPUT | SAVES_OUTPUT) if needs_node(x) else y


cdef cnp.ndarray complex_logsumexp(cnp.ndarray array, int dim):
    """Computed in the array itself, one step along the dimension after another."""
    if cnp.PyArray_NDIM(array) == 0:
        return array
    rows = np.moveaxis(array, dim, 0)
    with np.errstate(all="ignore"):
        for k in range(1, cnp.PyArray_DIM(array, dim)):
            top = np.maximum(rows[k].real, rows[k - 1].real)
            top = np.where(np.isfinite(top), top, 0)
            rows[k] = np.log(np.exp(rows[k] - top) + np.exp(rows[k - 1] - top)) + top
    return array
