"""Variance and standard deviation, alone or with the mean."""

import warnings
from math import inf, nan

import numpy as np

cimport cython

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport cast, dense_copy
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, code_of, dtype_of, is_half
from autograd_cy._core.engine.engine cimport limit_of_quotient
from autograd_cy._core.graph.context cimport note_zero_norm
from autograd_cy._core.graph.node cimport Node, Request, save_input, save_output, saved_like, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node, new_node, record_all, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.reduction_loops cimport (
    DEVIATING, LARGEST, SMALLEST, Dims, count_along, divide_by, divided, expanded, mean_of, reduced, variance_of)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, current_mode

from autograd_cy._core.batching.rules import Along
from autograd_cy._core.graph.node import declare_outputs
from autograd_cy._core.ops.registry import op


cdef class VarianceReduction(FusedReduction):
    """Third constant: the correction as users see it; fourth: the degrees of freedom, which may be negative.

    A node with the mean as a second output has two more: the sizes of the input, and the number of elements of a mean.
    """

    cdef tuple constant_names(self):
        return ("dim", "keepdim", "correction")

    cdef Kernel *kernel(self, int dtype_code) except? NULL:
        return NULL if self.is_undefined() else &DEVIATING[dtype_code]

    cdef bint is_undefined(self):
        """Whether all elements are reduced and there are no degrees of freedom: PyTorch has another formula for that."""
        return self.constants[0] is None and self.constants[3] <= 0

    cdef tuple operands(self, cnp.ndarray x, cnp.ndarray g, Dims dims):
        cdef cnp.ndarray s = self.scales(g)
        return None if s is None else (mean_of(x, code_of(x), dims, False), s)

    cdef cnp.ndarray scales(self, cnp.ndarray g):
        """The factor of the deviations from the means; None if it is out of range."""
        raise NotImplementedError

    cdef object without_equals(self, object g):
        """The gradient of the first output, or 0 where all elements are equal and the output has none."""
        return g

    cdef object deviations(self):
        """The deviations from the mean over the degrees of freedom."""
        x = unpack(self, 0)
        d = x - x.mean(self.constants[0], True)
        if self.is_undefined():
            deviations = (<Tensor> d).array
            return new_tensor(np.asarray(np.where(deviations == 0, nan, inf), deviations.real.dtype))
        return d * (1 / self.constants[3] if self.constants[3] else inf)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef Request inner = Request(False, False, NULL, False, False)
        cdef cnp.ndarray shared
        if type(g) is not list:
            return FusedReduction.vjp_array(self, g, i, request)
        spread, centre = g
        if centre is None:
            return FusedReduction.vjp_array(self, spread, i, request)
        shared = self.shared(centre)
        if spread is None:
            return shared
        if not is_half(self.dtype_codes[0]):          # which the kernel computes in float32, without an addend
            inner.addend, inner.is_ours = <PyObject *> shared, True
        result = FusedReduction.vjp_array(self, spread, i, &inner)
        return result if inner.added else np.add(result, shared, out=shared)

    cdef cnp.ndarray shared(self, cnp.ndarray g):
        """The gradient of the mean, a new array in the input's shape."""
        cdef tuple sizes = <tuple> self.constants[4]
        g = cast(g, self.dtype_codes[0]) if code_of(g) != self.dtype_codes[0] else dense_copy(g)
        divide_by(g, self.constants[5])
        return dense_copy(expanded(g, sizes, dims_of(self.constants[0], len(sizes), "")))

    cdef object vjp(self, object g, int i):
        spread, centre = outputs_of(g)
        found = None if spread is None else FusedReduction.vjp(self, self.without_equals(spread), i)
        return found if centre is None else self.with_shared(found, centre)

    cdef object vjp_of_zeros(self, object g, int i):
        spread, centre = outputs_of(g)
        found = None if spread is None else FusedReduction.vjp_of_zeros(self, spread, i)
        return found if centre is None else self.with_shared(found, centre)

    cdef object with_shared(self, object found, object g):
        """The gradient of the first output (or None) plus the mean's."""
        cdef tuple sizes = <tuple> self.constants[4]
        g = with_kept(in_type(g, self.dtype_codes[0]), sizes, dims_of(self.constants[0], len(sizes), ""))
        g = (g / self.constants[5] if self.constants[5] else g).expand(sizes)
        return g if found is None else found + g

    cdef object jvp(self, tuple tangents):
        found = FusedReduction.jvp(self, tangents)
        return found if self.n_outputs == 1 else (found, tangents[0].mean(self.constants[0], self.constants[1]))

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        return FusedReduction.jvp_of_zeros(self, tangents, found) + found[1:]


def like_variance_or_mean(VarianceReduction node, int i):
    if node.n_outputs == 1:
        return None                     # only nodes with a mean keep sizes
    dims, keepdim, sizes = node.constants[0], node.constants[1], node.constants[4]
    dims = dims or tuple(range(len(sizes)))
    sizes = tuple([1 if k in dims else n for k, n in enumerate(sizes) if keepdim or k not in dims])
    return sizes, dtype_of(node.dtype_codes[1 - i])


declare_outputs(VarianceReduction, like_variance_or_mean)


cdef tuple outputs_of(object g):
    """The gradients of the first output and of the mean, None for one that was not used."""
    return tuple(<list> g) if type(g) is list else (g, None)


cdef class VarReduction(VarianceReduction):
    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef cnp.ndarray scales(self, cnp.ndarray g):
        return divided(g, None, <double> self.constants[3] / 2)

    cdef object weights(self):
        return self.deviations() * 2


@cython.final
cdef class VarBackward0(VarReduction):
    pass


@cython.final
cdef class VarMeanBackward0(VarReduction):
    pass


cdef class StdReduction(VarianceReduction):
    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef object without_equals(self, object g):
        return g.where(unpack(self, 2) != 0, 0)

    cdef object vjp(self, object g, int i):
        cdef object result = VarianceReduction.vjp(self, g, i), spread = outputs_of(g)[0], limit
        if spread is None or self.constants[3] <= 0:
            return result
        limit = limit_of_quotient(self, spread, unpack(self, 2))
        return result if limit is None else result + in_type(self.spread(limit) * self.deviations(), self.dtype_codes[0])

    cdef cnp.ndarray scales(self, cnp.ndarray g):
        cdef cnp.ndarray y = saved_like(self, 2, g)
        if code_of(y) != code_of(g):
            y = cast(y, code_of(g))
        cdef cnp.ndarray s = divided(g, y, self.constants[3])
        return s if quotients_fit(s, g, y) else None

    cdef object weights(self):
        y = unpack(self, 2)
        return self.deviations() / self.spread(y.where(y != 0, inf))


@cython.final
cdef class StdBackward0(StdReduction):
    pass


@cython.final
cdef class StdMeanBackward0(StdReduction):
    cdef tuple saved_names(self):
        return ("self", None, "result0")


cdef cnp.ndarray deviation_of(cnp.ndarray array, Dims dims, bint keepdim, double freedom):
    """The standard deviation."""
    if is_half(code_of(array)):
        return cast(deviation_of(cast(array, FLOAT32), dims, keepdim, freedom), code_of(array))
    cdef cnp.ndarray roots = variance_of(array, dims, keepdim, freedom, True)
    if roots_in_range(roots) or zeros_are_exact(roots, array, dims, True) or zeros_are_right(array, roots, dims, keepdim):
        return roots
    return rescaled_deviation(array, dims, keepdim, freedom)


cdef bint zeros_are_right(cnp.ndarray array, cnp.ndarray roots, Dims dims, bint keepdim) except -1:
    """Whether deviations out of range only belong to equal elements, and are 0."""
    if code_of(array) >= COMPLEX64 or not count_along(array, dims):
        return False
    limits = np.finfo(roots.dtype)
    fit = (roots >= (limits.tiny / limits.eps) ** 0.5) & (roots <= limits.max)
    equal = reduced(&LARGEST, array, dims, keepdim) == reduced(&SMALLEST, array, dims, keepdim)
    return np.all(fit | equal & (roots == 0))


cdef cnp.ndarray rescaled_deviation(cnp.ndarray array, Dims dims, bint keepdim, double freedom):
    """The standard deviation if squares are out of range: computed from elements divided by a power of two."""
    cdef tuple axes = dim_tuple(dims) if cnp.PyArray_NDIM(array) else ()
    with np.errstate(all="ignore"):
        scale = scales_of(np.absolute(array).max(axes, keepdims=True, initial=0))
        roots = variance_of(np.asarray(array / scale), dims, keepdim, freedom, True)
        return np.asarray(roots * scale.reshape((<object> roots).shape))


cdef object variance(object input, object dim, object unbiased, bint keepdim, object correction, str name, object node_class):
    cdef Tensor x = as_tensor(input, name)
    if isinstance(dim, bool):                       # var(unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{name}() received an invalid combination of arguments: both unbiased and correction")
        correction = 1 if unbiased else 0
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), name)
    cdef bint root = node_class is StdBackward0 or node_class is StdMeanBackward0
    cdef double freedom = freedom_of(x.array, dims, correction, name)
    cdef double divisor = max(freedom, 0.0)
    cdef Tensor y = new_tensor(deviation_of(x.array, dims, keepdim, divisor) if root
                               else variance_of(x.array, dims, keepdim, divisor, False))
    cdef bint alone = node_class is VarBackward0 or node_class is StdBackward0
    if alone and not needs_node(x):
        return y
    shown = 1 if correction is None and (dim is not None or keepdim) else correction        # as PyTorch shows it
    constants = (None if dim is None else dim_tuple(dims), keepdim, shown, freedom)
    if root and current_mode() & FORWARD_AD and not np.all(y.array):
        note_zero_norm()                # case 3 of NOTE [Norms of 0]
    if alone:
        return record_reduction(node_class, constants, x, y, SAVES_INPUT | SAVES_OUTPUT if root else SAVES_INPUT)
    return with_mean(node_class, constants, x, y, dims)


cdef double freedom_of(cnp.ndarray array, Dims dims, object correction, str name) except? -1:
    """The degrees of freedom; warns if there are none."""
    if code_of(array) < FLOAT16:
        raise RuntimeError(f"{name if '_' in name else 'std and var'} only support floating point and complex dtypes")
    cdef Py_ssize_t count = count_along(array, dims)
    cdef double freedom = count - (1 if correction is None else correction)
    if freedom <= 0 or (cnp.PyArray_SIZE(array) == 0 and count > 0):
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                      "(input numel divided by output numel).", UserWarning)
    return freedom


cdef tuple with_mean(object node_class, tuple constants, Tensor x, Tensor y, Dims dims):
    """Record y, the variance or deviation of x, and the mean as outputs of one node."""
    cdef Tensor mean = new_tensor(mean_of(x.array, code_of(x.array), dims, constants[1]))
    cdef Node node
    if not needs_node(x):
        return y, mean
    node = new_node(node_class, constants + (shape_of(x), count_along(x.array, dims)))
    node.dtype_codes[0], node.dtype_codes[1], node.n_outputs = code_of(x.array), code_of(y.array), 2
    save_input(node, 0, x)
    if node_class is StdMeanBackward0:
        save_output(node, y)
    return record_all(node, (y, mean), (x,))


along = Along("dim", "all")


def batched_variance(call, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    if isinstance(dim, bool):                       # var(unbiased)
        dim, unbiased = None, dim
    return along(call, input, dim, unbiased, keepdim, correction=correction)


@op(methods=("var",), batch=batched_variance)
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """var(input, dim=None, *, correction=1, keepdim=False) -> Tensor: the variance of all elements, or along `dim`.

    The sum of the squared deviations from the mean, divided by their number minus the correction; unbiased=False is
    correction=0. A UserWarning if the divisor is not positive. The variance of complex numbers is real.

    >>> import autograd_cy as ag
    >>> ag.var(ag.tensor([1.0, 2.0, 3.0, 6.0]), correction=0)
    tensor(3.5000)
    """
    return variance(input, dim, unbiased, keepdim, correction, "var", VarBackward0)


@op(methods=("std",), batch=batched_variance)
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """std(input, dim=None, *, correction=1, keepdim=False) -> Tensor: the standard deviation, the square root of var().

    Its gradient is 0 where all elements are equal.

    >>> import autograd_cy as ag
    >>> ag.std(ag.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return variance(input, dim, unbiased, keepdim, correction, "std", StdBackward0)


@op(batch=batched_variance)
def var_mean(input, dim: _Dims | None = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: float | None = None):
    """var_mean(input, dim=None, *, correction=1, keepdim=False) -> tuple of two Tensors: var() and mean().

    >>> import autograd_cy as ag
    >>> ag.var_mean(ag.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    return variance(input, dim, unbiased, keepdim, correction, "var_mean", VarMeanBackward0)


@op(batch=batched_variance)
def std_mean(input, dim: _Dims | None = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: float | None = None):
    """std_mean(input, dim=None, *, correction=1, keepdim=False) -> tuple of two Tensors: std() and mean().

    >>> import autograd_cy as ag
    >>> ag.std_mean(ag.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    return variance(input, dim, unbiased, keepdim, correction, "std_mean", StdMeanBackward0)
