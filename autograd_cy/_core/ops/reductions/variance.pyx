"""Variance and standard deviation."""

import warnings
from math import inf, nan

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, code_of
from autograd_cy._core.graph.record cimport as_tensor, needs_node
from autograd_cy._core.graph.saved cimport saved_like, unpack
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.reduction_gradients cimport DEVIATING, divided
from autograd_cy._core.kernels.reduction_loops cimport LARGEST, SMALLEST, Dims, count_along, mean_of, reduced
from autograd_cy._core.kernels.variance_loops cimport variance_of
from autograd_cy._core.ops.reductions.reduction_node cimport (
    SAVES_INPUT, SAVES_OUTPUT, FusedReduction, dim_tuple, dims_of, record_reduction)
from autograd_cy._core.ops.reductions.scaling cimport quotients_fit, roots_in_range, scales_of, zeros_are_exact
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
        cdef cnp.ndarray s = self.scales(g)
        return None if s is None else (mean_of(x, code_of(x), dims, False), s)

    cdef cnp.ndarray scales(self, cnp.ndarray g):
        """What the deviations from the means are multiplied by; None where that is out of range."""
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
        if code_of(y) != code_of(g):
            y = cast(y, code_of(g))
        cdef cnp.ndarray s = divided(g, y, self.constants[3])
        return s if quotients_fit(s, g, y) else None

    cdef object weights(self):
        y = unpack(self, 2)
        return self.deviations() / self.spread(y.where(y != 0, inf))


cdef cnp.ndarray deviation_of(cnp.ndarray array, Dims dims, bint keepdim, double freedom):
    """The standard deviation."""
    if code_of(array) == FLOAT16:
        return cast(deviation_of(cast(array, FLOAT32), dims, keepdim, freedom), FLOAT16)
    cdef cnp.ndarray roots = variance_of(array, dims, keepdim, freedom, True)
    if roots_in_range(roots) or zeros_are_exact(roots, array, dims, True) or zeros_are_right(array, roots, dims, keepdim):
        return roots
    return rescaled(array, dims, keepdim, freedom)


cdef bint zeros_are_right(cnp.ndarray array, cnp.ndarray roots, Dims dims, bint keepdim) except -1:
    """Whether only equal elements have deviations out of range: these are 0."""
    if code_of(array) >= COMPLEX64 or not count_along(array, dims):
        return False
    limits = np.finfo(roots.dtype)
    fit = (roots >= (limits.tiny / limits.eps) ** 0.5) & (roots <= limits.max)
    equal = reduced(&LARGEST, array, dims, keepdim) == reduced(&SMALLEST, array, dims, keepdim)
    return np.all(fit | equal & (roots == 0))


cdef cnp.ndarray rescaled(cnp.ndarray array, Dims dims, bint keepdim, double freedom):
    """The standard deviation where squares are out of range: of the elements divided by a power of two."""
    cdef tuple axes = dim_tuple(dims) if cnp.PyArray_NDIM(array) else ()
    with np.errstate(all="ignore"):
        scale = scales_of(np.absolute(array).max(axes, keepdims=True, initial=0))
        roots = variance_of(np.asarray(array / scale), dims, keepdim, freedom, True)
        return np.asarray(roots * scale.reshape((<object> roots).shape))


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
    cdef double divisor = max(freedom, 0.0)
    cdef Tensor y = new_tensor(deviation_of(x.array, dims, keepdim, divisor) if root
                               else variance_of(x.array, dims, keepdim, divisor, False))
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
