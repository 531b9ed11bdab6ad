"""softmax, log_softmax and logsumexp."""

import warnings

import numpy as np

cimport cython
from cpython.object cimport PyObject
from libc.math cimport log as log_double, logf as log_float
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport cast, dense_copy, new_array
from autograd_cy._core.dtypes cimport (
    COMPLEX64, FLOAT16, FLOAT32, FLOAT64, NCODES, as_dtype, code_of, dtype, dtype_of, to_inexact)
from autograd_cy._core.loops cimport Kernel, borrow, evaluate, is_flat
from autograd_cy._core.node cimport Node
from autograd_cy._core.record cimport as_tensor, is_wanted, new_node, record
from autograd_cy._core.reducers cimport LARGEST, SUM, Dims, reduced
from autograd_cy._core.reduction cimport (
    SAVES_INPUT, SAVES_OUTPUT, WeightedReduction, dim_tuple, dims_of, enter_reduction, one_dim, type_word)
from autograd_cy._core.saved cimport save_output, saved_array, unpack
from autograd_cy._core.tensor cimport Tensor, new_tensor

from autograd_cy._core.registry import op

cnp.import_array()

cdef enum:
    BLOCK = 1024            # elements that are worked on in the L1 cache, and given to NumPy's exp in one call
    SHORT = 16              # rows below this length are not worth a call of NumPy's loops

ctypedef fused real:
    float
    double

cdef Kernel[NCODES] EXP, LOG, SUBTRACT, ADD


# kernels: `rows` rows of `n` contiguous elements each

cdef inline void exponentiate(real *data, npy_intp n) noexcept nogil:
    cdef int code = FLOAT32 if real is float else FLOAT64
    cdef npy_intp[2] strides
    cdef char *args[2]
    args[0] = args[1] = <char *> data
    strides[0] = strides[1] = sizeof(real)
    EXP[code].loop(args, &n, strides, EXP[code].data)


cdef inline real reduce_row(Kernel *kernel, real *row, npy_intp n, real start) noexcept nogil:
    """A reduction by NumPy's loop: see NOTE [Reducing] in reduction.pyx."""
    cdef npy_intp[3] strides
    cdef char *args[3]
    args[0] = args[2] = <char *> &start
    args[1] = <char *> row
    strides[0] = strides[2] = 0
    strides[1] = sizeof(real)
    kernel.loop(args, &n, strides, kernel.data)
    return start


cdef inline real largest(real *row, npy_intp n) noexcept nogil:
    cdef real top = row[0]
    cdef npy_intp j
    if n >= SHORT:
        return reduce_row(&LARGEST.kernels[FLOAT32 if real is float else FLOAT64], row, n, top)
    for j in range(1, n):
        if row[j] > top:
            top = row[j]
    return top


cdef inline real total(real *row, npy_intp n) noexcept nogil:
    cdef real result = 0
    cdef npy_intp j
    if n >= SHORT:
        return reduce_row(&SUM.kernels[FLOAT32 if real is float else FLOAT64], row, n, result)
    for j in range(n):
        result += row[j]
    return result


cdef inline real logarithm(real x) noexcept nogil:
    return log_float(x) if real is float else log_double(x)


cdef inline npy_intp rows_in_block(npy_intp rows, npy_intp n) noexcept nogil:
    return min(rows, max(BLOCK // n, 1))


cdef void normalize(const real *x, real *y, npy_intp rows, npy_intp n, bint logarithmic) noexcept nogil:
    """y = exp(x) / sum(exp(x)) of each row, or its logarithm."""
    cdef npy_intp count
    while rows > 0:
        count = rows_in_block(rows, n)
        normalize_block(x, y, count, n, logarithmic)
        rows -= count
        x += count * n
        y += count * n


cdef void normalize_block(const real *x, real *y, npy_intp rows, npy_intp n, bint logarithmic) noexcept nogil:
    """The same for a few rows: shifted by the largest element of the row, so that nothing overflows."""
    cdef real[BLOCK] tops
    cdef real shift, divisor
    cdef npy_intp row, j
    for row in range(rows):
        tops[row] = largest(<real *> x + row * n, n)
        for j in range(n):
            y[row * n + j] = x[row * n + j] - tops[row]
    exponentiate(y, rows * n)
    for row in range(rows):
        divisor = total(y, n)
        if logarithmic:
            shift = logarithm(divisor)
            for j in range(n):
                y[j] = x[j] - tops[row] - shift
        else:
            for j in range(n):
                y[j] = y[j] / divisor
        x += n
        y += n


cdef void softmax_gradient(const real *g, const real *y, real *out, npy_intp rows, npy_intp n) noexcept nogil:
    """out = y * (g - sum(g * y)) of each row."""
    cdef npy_intp row, j
    cdef real common
    for row in range(rows):
        for j in range(n):
            out[j] = g[j] * y[j]
        common = total(out, n)
        for j in range(n):
            out[j] = y[j] * (g[j] - common)
        g += n
        y += n
        out += n


cdef void log_softmax_gradient(const real *g, const real *y, real *out, npy_intp rows, npy_intp n) noexcept nogil:
    """out = g - exp(y) * sum(g) of each row."""
    cdef npy_intp count, row, j
    cdef real common
    while rows > 0:
        count = rows_in_block(rows, n)
        for j in range(count * n):
            out[j] = y[j]
        exponentiate(out, count * n)
        for row in range(count):
            common = total(<real *> g, n)
            for j in range(n):
                out[j] = g[j] - out[j] * common
            g += n
            y += n
            out += n
        rows -= count


# arrays

cdef cnp.ndarray rows_of(cnp.ndarray array, int dim):
    """The array, dense, with `dim` as its last dimension."""
    cdef int last = cnp.PyArray_NDIM(array) - 1
    if dim < last:
        array = array.swapaxes(dim, last)
    return array if is_flat(array) else dense_copy(array)


cdef cnp.ndarray rows_back(cnp.ndarray array, int dim):
    """What became of `rows_of` with the dimensions in their order again."""
    cdef int last = cnp.PyArray_NDIM(array) - 1
    return dense_copy(array.swapaxes(dim, last)) if dim < last else array


cdef cnp.ndarray normalized(cnp.ndarray array, int dim, bint logarithmic):
    """softmax or log_softmax of floats; float16 is computed in float32."""
    cdef int code = code_of(array), ndim = cnp.PyArray_NDIM(array)
    if code == FLOAT16:
        return cast(normalized(cast(array, FLOAT32), dim, logarithmic), FLOAT16)
    cdef cnp.ndarray x = rows_of(array, dim)
    cdef cnp.ndarray y = new_array(code, ndim, cnp.PyArray_DIMS(x))
    cdef npy_intp n = cnp.PyArray_DIM(x, ndim - 1) if ndim else 1
    cdef npy_intp rows = cnp.PyArray_SIZE(x) // n if n else 0
    if code == FLOAT32:
        normalize(<float *> cnp.PyArray_DATA(x), <float *> cnp.PyArray_DATA(y), rows, n, logarithmic)
    else:
        normalize(<double *> cnp.PyArray_DATA(x), <double *> cnp.PyArray_DATA(y), rows, n, logarithmic)
    return rows_back(y, dim)


cdef cnp.ndarray gradient_of(cnp.ndarray gradient, cnp.ndarray result, int dim, bint logarithmic):
    """The gradient for the input of softmax or log_softmax, of floats or doubles."""
    cdef int code = code_of(gradient), ndim = cnp.PyArray_NDIM(gradient)
    cdef cnp.ndarray g = rows_of(gradient, dim), y = rows_of(result, dim)
    cdef cnp.ndarray out = new_array(code, ndim, cnp.PyArray_DIMS(g))
    cdef npy_intp n = cnp.PyArray_DIM(g, ndim - 1) if ndim else 1
    cdef npy_intp rows = cnp.PyArray_SIZE(g) // n if n else 0
    cdef void *p = cnp.PyArray_DATA(g)
    cdef void *q = cnp.PyArray_DATA(y)
    cdef void *r = cnp.PyArray_DATA(out)
    if logarithmic and code == FLOAT32:
        log_softmax_gradient(<float *> p, <float *> q, <float *> r, rows, n)
    elif logarithmic:
        log_softmax_gradient(<double *> p, <double *> q, <double *> r, rows, n)
    elif code == FLOAT32:
        softmax_gradient(<float *> p, <float *> q, <float *> r, rows, n)
    else:
        softmax_gradient(<double *> p, <double *> q, <double *> r, rows, n)
    return rows_back(out, dim)


# softmax and log_softmax

cdef class Normalization(Node):
    """The constants: dim."""

    cdef tuple saved_names(self):
        return (None, None, "result")

    cdef tuple constant_names(self):
        return ("dim",)


@cython.final
cdef class SoftmaxBackward0(Normalization):
    cdef object vjp(self, object g, int i, bint reuse):
        if code_of(<cnp.ndarray> g) == FLOAT16:
            return Node.vjp(self, g, i, reuse)
        return gradient_of(<cnp.ndarray> g, saved_array(self, 2), self.constants[0], False)

    cdef object rule(self, object g, int i):
        y = unpack(self, 2)
        return y * (g - (g * y).sum(self.constants[0], True))

    cdef object jvp(self, tuple tangents):
        return self.rule(tangents[0], 0)            # the Jacobian is symmetric


@cython.final
cdef class LogSoftmaxBackward0(Normalization):
    cdef object vjp(self, object g, int i, bint reuse):
        if code_of(<cnp.ndarray> g) == FLOAT16:
            return Node.vjp(self, g, i, reuse)
        return gradient_of(<cnp.ndarray> g, saved_array(self, 2), self.constants[0], True)

    cdef object rule(self, object g, int i):
        return g - unpack(self, 2).exp() * g.sum(self.constants[0], True)

    cdef object jvp(self, tuple tangents):
        return tangents[0] - (unpack(self, 2).exp() * tangents[0]).sum(self.constants[0], True)


cdef Tensor normalization(object node_class, object input, object dim, object wanted, bint logarithmic):
    cdef str operation = "log_softmax" if logarithmic else "softmax"
    cdef Tensor x = as_tensor(input, operation)
    cdef int ndim = cnp.PyArray_NDIM(x.array), d = one_dim(dim, ndim, operation)
    if wanted is not None and as_dtype(wanted).code != code_of(x.array):
        x = input.to(wanted)
    if not FLOAT16 <= code_of(x.array) < COMPLEX64:
        raise NotImplementedError(f'"{operation}_{"lastdim_" if d + 1 >= ndim else ""}kernel_impl" not implemented for '
                                  f"'{type_word(code_of(x.array))}'")
    cdef Tensor y = new_tensor(normalized(x.array, d, logarithmic))
    cdef Node node
    if not is_wanted(x):
        return y
    node = new_node(node_class, (d,))
    save_output(node, y)
    return record(node, y, x)


@op(methods=("softmax",))
def softmax(input, dim, dtype=None):
    """softmax(input, dim, dtype=None) -> Tensor: exp(input) divided by its sum along `dim`.

    For floating point types; with `dtype` the input is converted first.

    >>> import autograd_cy as ag
    >>> ag.softmax(ag.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return normalization(SoftmaxBackward0, input, dim, dtype, False)


@op(methods=("log_softmax",))
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
cdef class LogsumexpBackward0(WeightedReduction):
    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef tuple constant_names(self):
        return ("dim", "keepdim")

    cdef object weights(self):
        return (unpack(self, 0) - self.spread(unpack(self, 2))).exp().conj()


cdef cnp.ndarray calculate(Kernel *kernels, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
    """A borrowed loop on one array or two (b: None), into `out` or a new array."""
    cdef PyObject *operands[2]
    operands[0] = <PyObject *> a
    operands[1] = <PyObject *> b
    return evaluate(&kernels[code_of(a)], operands, 1 if b is None else 2, code_of(a), out)


cdef cnp.ndarray log_of_sum(cnp.ndarray array, Dims dims, bint keepdim):
    """Shifted by the largest real part, so that nothing overflows; float16 is computed in float32."""
    cdef int code = code_of(array)
    if code == FLOAT16:
        return cast(log_of_sum(cast(array, FLOAT32), dims, keepdim), FLOAT16)
    cdef cnp.ndarray top = reduced(&LARGEST, array.real, dims, True)
    top[~np.isfinite(top)] = 0
    if code >= COMPLEX64:
        top = cast(top, code)
    cdef cnp.ndarray terms = calculate(SUBTRACT, array, top, None)
    calculate(EXP, terms, None, terms)
    cdef cnp.ndarray result = reduced(&SUM, terms, dims, keepdim)
    calculate(LOG, result, None, result)
    calculate(ADD, result, top.reshape(np.shape(result)), result)
    return result


@op(methods=("logsumexp",))
def logsumexp(input, dim, keepdim=False):
    """logsumexp(input, dim, keepdim=False) -> Tensor: log(sum(exp(input))) along `dim`, one dimension or several.

    Of nothing it is -inf. Integers become floats.

    >>> import autograd_cy as ag
    >>> ag.logsumexp(ag.tensor([1000.0, 1000.0]), dim=0)
    tensor(1000.6931)
    """
    cdef Tensor x = as_tensor(input, "logsumexp")
    cdef Dims dims = dims_of(dim, cnp.PyArray_NDIM(x.array), "logsumexp")
    cdef int own = code_of(x.array), code = to_inexact(own)
    cdef Tensor y = new_tensor(log_of_sum(x.array if own == code else cast(x.array, code), dims, keepdim))
    if not is_wanted(x):
        return y
    return enter_reduction(LogsumexpBackward0, (dim_tuple(dims), keepdim), x, y, SAVES_INPUT | SAVES_OUTPUT)


# as functions of neural networks

cdef object implicit_dim(Tensor x, object dim, str operation):
    """The dimension that PyTorch's nn.functional takes where none is given."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {operation} has been deprecated. Change the call to include dim=X as an "
                  "argument.", UserWarning, stacklevel=2)
    return 0 if cnp.PyArray_NDIM(x.array) in (0, 1, 3) else 1


@op(name="softmax", namespace="nn.functional")
def functional_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(input, dim, dtype=None) -> Tensor: exp(input) divided by its sum along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.softmax(ag.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return softmax(input, implicit_dim(as_tensor(input, "softmax"), dim, "softmax"), dtype)


@op(name="log_softmax", namespace="nn.functional")
def functional_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log_softmax(input, dim, dtype=None) -> Tensor: the logarithm of softmax, exact where softmax is near 0 or 1.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.log_softmax(ag.tensor([1000.0, 0.0]), dim=0)
    tensor([    0., -1000.])
    """
    return log_softmax(input, implicit_dim(as_tensor(input, "log_softmax"), dim, "log_softmax"), dtype)


borrow(EXP, np.exp, lambda code: code)
borrow(LOG, np.log, lambda code: code)
borrow(SUBTRACT, np.subtract, lambda code: code)
borrow(ADD, np.add, lambda code: code)
