"""Variance, standard deviation and the norms of vectors."""

import warnings
from math import inf, isinf

import numpy as np

cimport cython
from cpython.object cimport PyObject
cimport numpy as cnp

from autograd_cy._core.buffers cimport cast
from autograd_cy._core.dtypes cimport (
    COMPLEX64, FLOAT16, FLOAT32, NCODES, as_dtype, code_of, promote, to_complex, to_real, type_word)
from autograd_cy._core.loops cimport Kernel, borrow, evaluate
from autograd_cy._core.record cimport as_tensor, is_wanted
from autograd_cy._core.reduction_loops cimport LARGEST, SMALLEST, SUM, Dims, count_along, divide_by, mean_of, reduced
from autograd_cy._core.reduction_node cimport (
    SAVES_INPUT, SAVES_OUTPUT, WeightedReduction, dim_tuple, dims_of, enter_reduction, in_type)
from autograd_cy._core.saved cimport saved_array, unpack
from autograd_cy._core.tensor cimport Tensor, new_tensor

from autograd_cy._core.registry import op

cnp.import_array()

cdef Kernel[NCODES] SUBTRACT, MULTIPLY, SQRT, ABSOLUTE, POWER


cdef cnp.ndarray call1(Kernel *kernels, cnp.ndarray a, int result, cnp.ndarray out):
    """A borrowed loop of one argument, into `out` or (None) a new array of type `result`."""
    cdef PyObject *operands[1]
    operands[0] = <PyObject *> a
    return evaluate(&kernels[code_of(a)], operands, 1, result, out)


cdef cnp.ndarray call2(Kernel *kernels, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
    """The same of two arguments."""
    cdef PyObject *operands[2]
    operands[0] = <PyObject *> a
    operands[1] = <PyObject *> b
    return evaluate(&kernels[code_of(a)], operands, 2, code_of(a), out)


cdef object inverse_of(object y):
    """1 / y of a Tensor, and 0, constant, where y is 0."""
    nonzero = y != 0
    return (1 / y.where(nonzero, 1)).where(nonzero, 0)


# var and std

cdef class VarianceReduction(WeightedReduction):
    """The third constant is the correction as it was given, the fourth the degrees of freedom."""

    cdef tuple constant_names(self):
        return ("dim", "keepdim", "correction")

    cdef object deviations(self):
        """The deviations from the mean over the degrees of freedom."""
        x = unpack(self, 0)
        scale = 1 / self.constants[3] if self.constants[3] else inf
        return (x - x.mean(self.constants[0], True)) * scale


@cython.final
cdef class VarBackward0(VarianceReduction):
    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef object weights(self):
        return self.deviations() * 2


@cython.final
cdef class StdBackward0(VarianceReduction):
    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef object weights(self):
        return self.deviations() * self.spread(inverse_of(unpack(self, 2)))


cdef cnp.ndarray variance_of(cnp.ndarray array, Dims dims, bint keepdim, double freedom):
    """Of floats or complex numbers, by way of the mean; float16 is computed in float32."""
    cdef int code = code_of(array)
    if code == FLOAT16:
        return cast(variance_of(cast(array, FLOAT32), dims, keepdim, freedom), FLOAT16)
    cdef cnp.ndarray x = call2(SUBTRACT, array, mean_of(array, code, dims, True), None)
    if code >= COMPLEX64:
        x = call1(ABSOLUTE, x, to_real(code), None)
    call2(MULTIPLY, x, x, x)
    cdef cnp.ndarray result = reduced(&SUM, x, dims, keepdim)
    divide_by(result, freedom)
    return result


cdef object variance(object input, object dim, object unbiased, bint keepdim, object correction, bint root):
    cdef str name = "std" if root else "var"
    cdef Tensor x = as_tensor(input, name)
    if isinstance(dim, bool):                       # var(unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{name}() received an invalid combination of arguments: both unbiased and correction")
        correction = 1 if unbiased else 0
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), name)
    if code_of(x.array) < FLOAT16:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    cdef double freedom = count_along(x.array, dims) - (1 if correction is None else correction)
    if freedom <= 0:
        freedom = 0
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                      "(input numel divided by output numel).", UserWarning)
    cdef cnp.ndarray array = variance_of(x.array, dims, keepdim, freedom)
    cdef Tensor y = new_tensor(square_root(array) if root else array)
    if not is_wanted(x):
        return y
    constants = (None if dim is None else dim_tuple(dims), keepdim, correction, freedom)
    if root:
        return enter_reduction(StdBackward0, constants, x, y, SAVES_INPUT | SAVES_OUTPUT)
    return enter_reduction(VarBackward0, constants, x, y, SAVES_INPUT)


cdef cnp.ndarray square_root(cnp.ndarray array):
    """In place."""
    return call1(SQRT, array, code_of(array), array)


@op(methods=("var",))
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """var(input, dim=None, *, correction=1, keepdim=False) -> Tensor: the variance of all elements, or along `dim`.

    The sum of the squared deviations from the mean, over their number less the correction; unbiased=False is correction=0.
    A UserWarning where that is not positive. Of complex numbers it is real.

    >>> import autograd_cy as ag
    >>> ag.var(ag.tensor([1.0, 2.0, 3.0, 6.0]), correction=0)
    tensor(3.5000)
    """
    return variance(input, dim, unbiased, keepdim, correction, False)


@op(methods=("std",))
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """std(input, dim=None, *, correction=1, keepdim=False) -> Tensor: the standard deviation, the square root of var().

    Its gradient is 0 where all elements are equal.

    >>> import autograd_cy as ag
    >>> ag.std(ag.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return variance(input, dim, unbiased, keepdim, correction, True)


# norm

@cython.final
cdef class LinalgVectorNormBackward0(WeightedReduction):
    """The third constant is the order."""

    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef tuple constant_names(self):
        return ("dim", "keepdim", "ord")

    cdef object rule(self, object g, int i):
        # the number of elements that are not zero: constant, so PyTorch gives it no gradient at all
        return None if self.constants[2] == 0 else WeightedReduction.rule(self, g, i)

    cdef object jvp(self, tuple tangents):
        if self.constants[2] == 0:
            return new_tensor(np.zeros_like(saved_array(self, 2)))
        return WeightedReduction.jvp(self, tangents)

    cdef object weights(self):
        """The derivative of the norm; where the norm is 0 it is 0."""
        p = self.constants[2]
        x = in_type(unpack(self, 0), to_complex(self.code1) if self.code0 >= COMPLEX64 else self.code1)
        if p == 1:
            return x.sgn()
        if isinf(p):
            return x.sgn() * self.shares()
        if p == 2:
            return x * self.spread(inverse_of(unpack(self, 2)))
        y, size = unpack(self, 2), x.abs()
        scaled = size.where(size != 0, 1) / self.spread(y.where(y != 0, 1))
        return (x.sgn() * scaled ** (p - 1)).where(self.spread(y != 0), 0)

    cdef object shares(self):
        """Of the largest (smallest) elements: one over how many there are."""
        cdef cnp.ndarray x = saved_array(self, 0)
        y = (<Tensor> self.spread(unpack(self, 2))).array
        equal = np.absolute(x) == y
        count = np.maximum(np.sum(equal, self.constants[0] if cnp.PyArray_NDIM(x) else None, keepdims=True), 1)
        return new_tensor(np.asarray(np.divide(equal, count, dtype=y.dtype)))


cdef cnp.ndarray norm_of(cnp.ndarray array, double p, Dims dims, bint keepdim):
    """The norm of floats or complex numbers; float16 is computed in float32."""
    cdef int code = code_of(array)
    if code == FLOAT16:
        return cast(norm_of(cast(array, FLOAT32), p, dims, keepdim), FLOAT16)
    if code >= COMPLEX64 or (p != 2 and p != 0):
        array = call1(ABSOLUTE, array, to_real(code), None)
    if p == inf or p == -inf:
        return reduced(&LARGEST if p > 0 else &SMALLEST, array, dims, keepdim)
    if p == 0:
        return reduced(&SUM, np.asarray(np.not_equal(array, 0), array.dtype), dims, keepdim)
    if p == 1:
        return reduced(&SUM, array, dims, keepdim)
    if p == 2:
        return square_root(reduced(&SUM, call2(MULTIPLY, array, array, None), dims, keepdim))
    cdef cnp.ndarray total = reduced(&SUM, call2(POWER, array, np.array(p, array.dtype), None), dims, keepdim)
    return call2(POWER, total, np.array(1 / p, array.dtype), total)


cdef int norm_code(cnp.ndarray array, object wanted) except -1:
    """The type to compute in: the input's, or the one asked for, which must be as wide and complex if that is."""
    cdef int own = code_of(array), code
    if own < FLOAT16:
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {type_word(own)}")
    if wanted is None:
        return own
    code = as_dtype(wanted).code
    if (code >= COMPLEX64) != (own >= COMPLEX64):
        kind = "complex" if own >= COMPLEX64 else "real"
        raise RuntimeError(f"linalg.vector_norm: dtype should be {kind} for {kind} inputs, but got {type_word(code)}")
    if promote(own, code) != code:
        raise RuntimeError(f"linalg.vector_norm: the dtype of the input ({type_word(own)}) should be convertible without "
                           f"narrowing to the specified dtype ({type_word(code)})")
    return code


cdef object order_of(object p):
    """The order as a number; 2 for 'fro' and None."""
    if p is None or (isinstance(p, str) and p == "fro"):
        return 2
    if isinstance(p, str):
        raise NotImplementedError(f"norm(): only norms of vectors are supported, not p={p!r}")
    return p.item() if isinstance(p, Tensor) else p


@op(methods=("norm",))
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """norm(input, p='fro', dim=None, keepdim=False, dtype=None) -> Tensor: the p-norm of all elements, or along `dim`.

    The p-th root of the sum of |x| ** p; p=inf and -inf: the largest and smallest |x|; p=0: how many are not 0; 'fro' is 2.
    Its gradient is 0 where the norm is 0. RuntimeError for integers.

    >>> import autograd_cy as ag
    >>> ag.norm(ag.tensor([3.0, 4.0]))
    tensor(5.)
    """
    cdef Tensor x = as_tensor(input, "norm")
    if out is not None:
        raise NotImplementedError("norm(): out= is not supported")
    order = order_of(p)
    cdef int code = norm_code(x.array, dtype)
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), "norm")
    check_identity(x.array, order, dims, dim is None)
    cdef cnp.ndarray array = x.array if code == code_of(x.array) else cast(x.array, code)
    cdef Tensor y = new_tensor(norm_of(array, order, dims, keepdim))
    if not is_wanted(x):
        return y
    enter_reduction(LinalgVectorNormBackward0, (None if dim is None else dim_tuple(dims), keepdim, order), x, y,
                    SAVES_INPUT | SAVES_OUTPUT)
    return y


cdef int check_identity(cnp.ndarray array, double p, Dims dims, bint all_of_them) except -1:
    """Refuse norms of nothing that have no value."""
    cdef int axis
    if p >= 0 and p != inf:
        return 0
    for axis in range(cnp.PyArray_NDIM(array)):
        if dims >> axis & 1 and cnp.PyArray_DIM(array, axis) == 0:
            where = "an empty tensor because the operation" if all_of_them else (
                f"the dimension {axis} because this dimension is empty and the operation")
            raise RuntimeError(f"linalg.vector_norm cannot compute the {p:g} norm on {where} does not have an identity")
    return 0


def real_code(code):
    return to_real(code)


borrow(SUBTRACT, np.subtract, lambda code: code)
borrow(MULTIPLY, np.multiply, lambda code: code)
borrow(SQRT, np.sqrt, lambda code: code)
borrow(POWER, np.power, lambda code: code)
borrow(ABSOLUTE, np.absolute, real_code)
