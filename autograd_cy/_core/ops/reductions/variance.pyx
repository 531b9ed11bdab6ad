"""Variance and standard deviation."""

import warnings
from math import inf, nan

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast
from autograd_cy._core.arrays.dtypes cimport FLOAT16, code_of
from autograd_cy._core.graph.record cimport as_tensor, needs_node
from autograd_cy._core.graph.saved cimport saved_like, unpack
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.reduction_gradients cimport DEVIATING, divided
from autograd_cy._core.kernels.reduction_loops cimport Dims, count_along, mean_of
from autograd_cy._core.kernels.variance_loops cimport variance_of
from autograd_cy._core.ops.reductions.reduction_node cimport (
    SAVES_INPUT, SAVES_OUTPUT, FusedReduction, dim_tuple, dims_of, inverse_of, record_reduction)
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.ops.registry import op

cnp.import_array()


cdef class VarianceReduction(FusedReduction):
    """The third constant is the correction as users see it, the fourth the degrees of freedom, below 0, too."""

    cdef tuple constant_names(self):
        return ("dim", "keepdim", "correction")

    cdef Kernel *kernel(self, int dtype_code) except? NULL:
        return NULL if self.is_undefined() else &DEVIATING[dtype_code]

    cdef bint is_undefined(self):
        """Whether it is of all elements and has no degree of freedom: PyTorch has another formula for that."""
        return self.constants[0] is None and self.constants[3] <= 0

    cdef tuple operands(self, cnp.ndarray x, cnp.ndarray g, Dims dims):
        return mean_of(x, code_of(x), dims, False), self.scales(g)

    cdef cnp.ndarray scales(self, cnp.ndarray g):
        """What the deviations from the means are multiplied by."""
        raise NotImplementedError

    cdef object deviations(self):
        """The deviations from the mean over the degrees of freedom."""
        x = unpack(self, 0)
        d = x - x.mean(self.constants[0], True)
        if self.is_undefined():
            deviations = (<Tensor> d).array
            return new_tensor(np.asarray(np.where(deviations == 0, nan, inf), deviations.real.dtype))
        return d * (1 / self.constants[3] if self.constants[3] else inf)


@cython.final
cdef class VarBackward0(VarianceReduction):
    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef cnp.ndarray scales(self, cnp.ndarray g):
        return divided(g, None, <double> self.constants[3] / 2)

    cdef object weights(self):
        return self.deviations() * 2


@cython.final
cdef class StdBackward0(VarianceReduction):
    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef object vjp(self, object g, int i):
        return VarianceReduction.vjp(self, g.where(unpack(self, 2) != 0, 0), i)

    cdef cnp.ndarray scales(self, cnp.ndarray g):
        cdef cnp.ndarray y = saved_like(self, 2, g)
        return divided(g, y if code_of(y) == code_of(g) else cast(y, code_of(g)), self.constants[3])

    cdef object weights(self):
        return self.deviations() * self.spread(inverse_of(unpack(self, 2)))


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
    cdef Py_ssize_t count = count_along(x.array, dims)
    cdef double freedom = count - (1 if correction is None else correction)
    if freedom <= 0 or (cnp.PyArray_SIZE(x.array) == 0 and count > 0):
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                      "(input numel divided by output numel).", UserWarning)
    cdef Tensor y = new_tensor(variance_of(x.array, dims, keepdim, max(freedom, 0.0), root))
    if not needs_node(x):
        return y
    shown = 1 if correction is None and (dim is not None or keepdim) else correction        # as PyTorch shows it
    constants = (None if dim is None else dim_tuple(dims), keepdim, shown, freedom)
    if root:
        return record_reduction(StdBackward0, constants, x, y, SAVES_INPUT | SAVES_OUTPUT)
    return record_reduction(VarBackward0, constants, x, y, SAVES_INPUT)


along = Along("dim", "all")


def batched_variance(call, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    if isinstance(dim, bool):                       # var(unbiased)
        dim, unbiased = None, dim
    return along(call, input, dim, unbiased, keepdim, correction=correction)


@op(methods=("var",), batch=batched_variance)
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """var(input, dim=None, *, correction=1, keepdim=False) -> Tensor: the variance of all elements, or along `dim`.

    The sum of the squared deviations from the mean, over their number less the correction; unbiased=False is correction=0.
    A UserWarning where that is not positive. Of complex numbers it is real.

    >>> import autograd_cy as ag
    >>> ag.var(ag.tensor([1.0, 2.0, 3.0, 6.0]), correction=0)
    tensor(3.5000)
    """
    return variance(input, dim, unbiased, keepdim, correction, False)


@op(methods=("std",), batch=batched_variance)
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """std(input, dim=None, *, correction=1, keepdim=False) -> Tensor: the standard deviation, the square root of var().

    Its gradient is 0 where all elements are equal.

    >>> import autograd_cy as ag
    >>> ag.std(ag.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return variance(input, dim, unbiased, keepdim, correction, True)
