"""softmax, log_softmax and logsumexp."""

import warnings

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast, dense_copy, is_flat, new_array
from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX64, FLOAT16, FLOAT32, LONGDOUBLE, as_dtype, code_of, is_half, to_inexact, type_word)
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, Request, save_input, save_output, saved_like, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node, new_node, record, record2
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.reduction_loops cimport (
    EXPONENTIAL, Dims, count_along, extended_log_of_sum, extended_softmax, extended_softmax_gradient, reduced_sizes)
from autograd_cy._core.kernels.softmax_loops cimport log_sum_exp, normalize, normalize_gradient
from autograd_cy._core.ops.reductions.sums cimport (
    SAVES_INPUT, SAVES_OUTPUT, FusedReduction, dim_tuple, dims_of, one_dim, record_reduction)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.rules import COMPOSITE, Along
from autograd_cy._core.ops.registry import op

cnp.import_array()

# arrays

cdef double LN2 = 0.6931471805599453

cdef struct Layout:         # a dense array viewed as (outer, n, inner)
    npy_intp outer, n, inner


cdef Layout layout_of(cnp.ndarray array, int dim) noexcept:
    cdef Layout layout = Layout(1, 1, 1)
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(array)):
        if axis < dim:
            layout.outer *= cnp.PyArray_DIM(array, axis)
        elif axis == dim:
            layout.n = cnp.PyArray_DIM(array, axis)
        else:
            layout.inner *= cnp.PyArray_DIM(array, axis)
    return layout


cdef inline cnp.ndarray dense(cnp.ndarray array):
    return array if is_flat(array) else dense_copy(array)


cdef cnp.ndarray normalized(cnp.ndarray array, int dim, bint logarithmic, bint *peaked):
    """softmax or log_softmax of floats, and whether a probability is above 1/2; float16 is computed in float32."""
    cdef int dtype_code = code_of(array)
    if is_half(dtype_code):
        return cast(normalized(cast(array, FLOAT32), dim, logarithmic, peaked), dtype_code)
    if dtype_code == LONGDOUBLE:
        peaked[0] = False
        return extended_softmax(array, dim, logarithmic)
    cdef cnp.ndarray x = dense(array), y = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    cdef Layout of = layout_of(x, dim)
    cdef void *p = cnp.PyArray_DATA(x)
    cdef void *q = cnp.PyArray_DATA(y)
    if dtype_code == FLOAT32:
        peaked[0] = normalize(<float *> p, <float *> q, of.outer, of.n, of.inner, logarithmic)
    else:
        peaked[0] = normalize(<double *> p, <double *> q, of.outer, of.n, of.inner, logarithmic)
    return y


cdef cnp.ndarray gradient_of(cnp.ndarray gradient, cnp.ndarray result, int dim, bint logarithmic, bint peaked, bint ours):
    """The gradient of the input of softmax or log_softmax, written over the incoming gradient if that is owned.

    float16 is computed in float32.
    """
    cdef int dtype_code = code_of(gradient)
    if is_half(dtype_code):
        return cast(gradient_of(cast(gradient, FLOAT32), cast(result, FLOAT32), dim, logarithmic, peaked, False), dtype_code)
    if dtype_code == LONGDOUBLE:
        return extended_softmax_gradient(gradient, result, dim, logarithmic)
    cdef cnp.ndarray g = dense(gradient), y = dense(result)
    cdef cnp.ndarray out = g if ours or g is not gradient else new_array(dtype_code, cnp.PyArray_NDIM(g), cnp.PyArray_DIMS(g))
    cdef Layout of = layout_of(g, dim)
    cdef void *p = cnp.PyArray_DATA(g)
    cdef void *q = cnp.PyArray_DATA(y)
    cdef void *r = cnp.PyArray_DATA(out)
    if dtype_code == FLOAT32:
        normalize_gradient(<float *> p, <float *> q, <float *> r, of.outer, of.n, of.inner, logarithmic, peaked)
    else:
        normalize_gradient(<double *> p, <double *> q, <double *> r, of.outer, of.n, of.inner, logarithmic, peaked)
    return out


# softmax and log_softmax

cdef class Normalization(Node):
    """Constant: dim."""
    cdef bint peaked                # whether a probability is above 1/2

    cdef tuple saved_names(self):
        return (None, None, "result")

    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp_of_zeros(self, object g, int i):
        return zeroed(self.vjp(g, i), (g == 0).all(self.constants[0], True))

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        return (zeroed(found[0], (tangents[0] == 0).all(self.constants[0], True)),)


@cython.final
cdef class SoftmaxBackward0(Normalization):
    cdef object vjp_array(self, object g, int i, Request *request):
        y = saved_like(self, 2, <cnp.ndarray> g)
        return gradient_of(<cnp.ndarray> g, y, self.constants[0], False, self.peaked, request.may_overwrite)

    cdef object vjp(self, object g, int i):
        return softmax_gradient(<Tensor> g, <Tensor> unpack(self, 2), self.constants[0])

    cdef object jvp(self, tuple tangents):
        return self.vjp(tangents[0], 0)            # the Jacobian is symmetric


@cython.final
cdef class LogSoftmaxBackward0(Normalization):
    cdef object vjp_array(self, object g, int i, Request *request):
        y = saved_like(self, 2, <cnp.ndarray> g)
        return gradient_of(<cnp.ndarray> g, y, self.constants[0], True, self.peaked, request.may_overwrite)

    cdef object vjp(self, object g, int i):
        return log_softmax_gradient(<Tensor> g, <Tensor> unpack(self, 2), self.constants[0])

    cdef object jvp(self, tuple tangents):
        return centered(tangents[0], unpack(self, 2).exp(), self.constants[0])


# their gradients as operations on the incoming gradient and the output

cdef class NormalizationGradient(Node):
    """Constant: dim."""

    cdef tuple saved_names(self):
        return ("grad_output", "output", None)

    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp_of_zeros(self, object g, int i):
        return zeroed(self.vjp(g, i), (g == 0).all(self.constants[0], True))

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        zeros = [(t == 0).all(self.constants[0], True) for t in tangents if t is not None]
        return (zeroed(found[0], zeros[0] & zeros[len(zeros) - 1]),)


@cython.final
cdef class SoftmaxBackwardDataBackward0(NormalizationGradient):
    cdef object vjp(self, object g, int i):
        y, d = unpack(self, 1), self.constants[0]
        if i == 0:
            return softmax_gradient(<Tensor> g, <Tensor> y, d)
        h = unpack(self, 0)
        return g * (h - (h * y).sum(d, True)) - h * (g * y).sum(d, True)


@cython.final
cdef class LogSoftmaxBackwardDataBackward0(NormalizationGradient):
    cdef object vjp(self, object g, int i):
        p, d = unpack(self, 1).exp(), self.constants[0]
        return centered(g, p, d) if i == 0 else -p * unpack(self, 0).sum(d, True) * g


cdef object softmax_gradient(Tensor g, Tensor y, int dim):
    """y * (g - sum(g * y)); cases 2 and 3 of NOTE [Probabilities near 1] apply to the functions below, too."""
    if g.batched or y.batched:
        return y * centered(g, y, dim)
    return recorded_gradient(SoftmaxBackwardDataBackward0, g, y, dim, False)


cdef object log_softmax_gradient(Tensor g, Tensor y, int dim):
    """g - exp(y) * sum(g)"""
    if not (g.batched or y.batched):
        return recorded_gradient(LogSoftmaxBackwardDataBackward0, g, y, dim, True)
    cdef object h = g, logs = y, p = logs.exp(), peak = logs.detach() > -LN2
    rest = h.masked_fill(peak, 0).sum(dim, True)
    return (-logs.expm1() * h - p * rest).where(peak, h - p * h.sum(dim, True))


cdef Tensor recorded_gradient(object node_class, Tensor g, Tensor y, int dim, bint logarithmic):
    if not cnp.PyArray_SAMESHAPE(g.array, y.array):
        raise RuntimeError(
            f"softmax: expected a gradient of shape {list((<object> y).shape)}, but got {list((<object> g).shape)}")
    if not FLOAT16 <= code_of(g.array) < COMPLEX64:
        raise RuntimeError(f"softmax: expected a gradient of a real floating point type, but got {(<object> g).dtype}")
    cdef cnp.ndarray result = y.array if code_of(y.array) == code_of(g.array) else cast(y.array, code_of(g.array))
    cdef Tensor out = new_tensor(gradient_of(g.array, result, dim, logarithmic, True, False))
    cdef Node node
    if not needs_node(g) and not needs_node(y):
        return out
    node = new_node(node_class, (dim,))
    save_input(node, 0, g)
    save_input(node, 1, y)
    return record2(node, out, g, y)


cdef object centered(object g, object p, int dim):
    """g - sum(p * g) for the probabilities p."""
    g = g - g.where(p.detach() > 0.5, 0).sum(dim, True)
    return g - (p * g).sum(dim, True)


cdef int check_type(Tensor x, int dim, str operation) except -1:
    """Refuse types other than real floating point ones."""
    if not FLOAT16 <= code_of(x.array) < COMPLEX64:
        last = "lastdim_" if dim + 1 >= cnp.PyArray_NDIM(x.array) else ""
        raise NotImplementedError(f"\"{operation}_{last}kernel_impl\" not implemented for '{type_word(code_of(x.array))}'")
    return 0


cdef Tensor normalization(object node_class, object input, object dim, object wanted, bint logarithmic):
    cdef str operation = "log_softmax" if logarithmic else "softmax"
    cdef Tensor x = as_tensor(input, operation)
    cdef int ndim = cnp.PyArray_NDIM(x.array), d = one_dim(dim, ndim, operation)
    if wanted is not None and as_dtype(wanted).dtype_code != code_of(x.array):
        x = input.to(wanted)
    check_type(x, d, operation)
    cdef bint peaked = False
    cdef Tensor y = new_tensor(normalized(x.array, d, logarithmic, &peaked))
    cdef Normalization node
    if not needs_node(x):
        return y
    node = new_node(node_class, (d,))
    node.peaked = peaked
    save_output(node, y)
    return record(node, y, x)


@op(methods=("softmax",), batch=Along("dim"))
def softmax(input, dim, dtype=None):
    """softmax(input, dim, dtype=None) -> Tensor: exp(input) divided by its sum along `dim`.

    For floating point types; with `dtype` the input is converted first.

    >>> import autograd_cy as ag
    >>> ag.softmax(ag.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return normalization(SoftmaxBackward0, input, dim, dtype, False)


@op(methods=("log_softmax",), batch=Along("dim"))
def log_softmax(input, dim, dtype=None):
    """log_softmax(input, dim, dtype=None) -> Tensor: the logarithm of softmax, exact where softmax is near 0 or 1.

    For floating point types; with `dtype` the input is converted first.

    >>> import autograd_cy as ag
    >>> ag.log_softmax(ag.tensor([1000.0, 0.0]), dim=0)
    tensor([    0., -1000.])
    """
    return normalization(LogSoftmaxBackward0, input, dim, dtype, True)


# logsumexp

@cython.final
cdef class LogsumexpBackward0(FusedReduction):
    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef tuple constant_names(self):
        return ("dim", "keepdim")

    cdef Kernel *kernel(self, int dtype_code) except? NULL:
        return &EXPONENTIAL[dtype_code]

    cdef tuple operands(self, cnp.ndarray x, cnp.ndarray g, Dims dims):
        cdef cnp.ndarray y = saved_like(self, 2, g)
        return y if code_of(y) == code_of(x) else cast(y, code_of(x)), g

    cdef object weights(self):
        x, dims = unpack(self, 0), self.constants[0]
        if self.dtype_codes[0] >= COMPLEX64:
            return (x - self.spread(unpack(self, 2))).exp().conj()
        return softmax_of(x, dims)


cdef object softmax_of(object x, tuple dims):
    """softmax along several dimensions."""
    cdef int ndim = cnp.PyArray_NDIM((<Tensor> x).array)
    if len(dims) == 1 or not ndim:
        return softmax(x, dims[0] if dims else 0)
    order = [d for d in range(ndim) if d not in dims] + list(dims)
    moved = x.permute(order)
    flat = softmax(moved.reshape(*moved.shape[:ndim - len(dims)], -1), -1)
    return flat.reshape(moved.shape).permute([order.index(d) for d in range(ndim)])


cdef cnp.ndarray log_of_sum(cnp.ndarray array, Dims dims, bint keepdim):
    """logsumexp of floats; float16 is computed in float32."""
    cdef int dtype_code = code_of(array), ndim = cnp.PyArray_NDIM(array)
    if is_half(dtype_code):
        return cast(log_of_sum(cast(array, FLOAT32), dims, keepdim), dtype_code)
    if dtype_code == LONGDOUBLE:
        return extended_log_of_sum(array, dim_tuple(dims) if ndim else ()).reshape(reduced_sizes(array, dims, keepdim))
    cdef list order = [d for d in range(ndim) if not dims >> d & 1] + [d for d in range(ndim) if dims >> d & 1]
    cdef cnp.ndarray x = dense(array.transpose(order))
    cdef tuple sizes = reduced_sizes(array, dims, keepdim)
    cdef cnp.ndarray y = np.empty(sizes, array.dtype)
    cdef npy_intp n = count_along(array, dims)
    if dtype_code == FLOAT32:
        log_sum_exp(<float *> cnp.PyArray_DATA(x), <float *> cnp.PyArray_DATA(y), cnp.PyArray_SIZE(y), n)
    else:
        log_sum_exp(<double *> cnp.PyArray_DATA(x), <double *> cnp.PyArray_DATA(y), cnp.PyArray_SIZE(y), n)
    return y


cdef cnp.ndarray complex_log_of_sum(cnp.ndarray array, Dims dims, bint keepdim):
    """The logarithm of the sum of exponentials of complex numbers, shifted by the largest real part."""
    cdef tuple axes = dim_tuple(dims) if cnp.PyArray_NDIM(array) else ()
    top = np.asarray(array.real.max(axes, keepdims=True, initial=-np.inf))
    top[~np.isfinite(top)] = 0
    with np.errstate(all="ignore"):
        result = np.log(np.exp(array - top).sum(axes, keepdims=True)) + top
    return np.asarray(result).reshape(reduced_sizes(array, dims, keepdim))


@op(methods=("logsumexp",), batch=Along("dim", "all"))
def logsumexp(input, dim, keepdim=False):
    """logsumexp(input, dim, keepdim=False) -> Tensor: log(sum(exp(input))) along `dim`, one dimension or several.

    An empty sum gives -inf. Integers become floats.

    >>> import autograd_cy as ag
    >>> ag.logsumexp(ag.tensor([1000.0, 0.0]), dim=0)
    tensor(1000.)
    """
    cdef Tensor x = as_tensor(input, "logsumexp")
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), "logsumexp")
    cdef int own = code_of(x.array), dtype_code = to_inexact(own)
    cdef cnp.ndarray array = x.array if own == dtype_code else cast(x.array, dtype_code)
    cdef Tensor y = new_tensor((complex_log_of_sum if dtype_code >= COMPLEX64 else log_of_sum)(array, dims, keepdim))
    if not needs_node(x):
        return y
    return record_reduction(LogsumexpBackward0, (dim_tuple(dims), keepdim), x, y, SAVES_INPUT | SAVES_OUTPUT)


# the functions in nn.functional

cdef object implicit_dim(Tensor x, object dim, str operation):
    """The dimension that PyTorch's nn.functional uses by default."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {operation} has been deprecated. Change the call to include dim=X as an "
                  "argument.", UserWarning)
    return 0 if cnp.PyArray_NDIM(x.array) in (0, 1, 3) else 1


@op(name="softmax", namespace="nn.functional", batch=COMPOSITE)
def functional_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(input, dim, dtype=None) -> Tensor: exp(input) divided by its sum along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.softmax(ag.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return softmax(input, implicit_dim(as_tensor(input, "softmax"), dim, "softmax"), dtype)


@op(name="log_softmax", namespace="nn.functional", batch=COMPOSITE)
def functional_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log_softmax(input, dim, dtype=None) -> Tensor: the logarithm of softmax, exact where softmax is near 0 or 1.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.log_softmax(ag.tensor([1000.0, 0.0]), dim=0)
    tensor([    0., -1000.])
    """
    return log_softmax(input, implicit_dim(as_tensor(input, "log_softmax"), dim, "log_softmax"), dtype)


@op(namespace="nn.functional", batch=COMPOSITE)
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmin(input, dim, dtype=None) -> Tensor: softmax of -input.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.softmin(ag.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return functional_softmax(-as_tensor(input, "softmin"), dim, _stacklevel, dtype)
