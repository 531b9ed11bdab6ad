"""Code shared by loss functions, mse_loss and l1_loss."""

import warnings

import numpy as np

cimport cython
from cython cimport floating

from autograd_cy._core.arrays.buffers cimport cast, flat, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, LONGDOUBLE, code_of, kernel_code, promote, type_word
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport broadcast_sizes, needs_node, record2, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.pointwise.nodes cimport MEAN, NONE, SUM
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.ops.registry import op


cdef dict REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


# shared

cdef int reduction_of(object reduction, object size_average, object reduce) except -1:
    """The requested reduction, also by PyTorch's two old flags."""
    if size_average is not None or reduce is not None:
        summed = "mean" if size_average is None or size_average else "sum"
        reduction = summed if reduce is None or reduce else "none"
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
                      UserWarning, stacklevel=2)
    if not isinstance(reduction, str) or reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


cdef object reduced(object losses, int reduction):
    """The losses, their mean or their sum."""
    return losses if reduction == NONE else losses.mean() if reduction == MEAN else losses.sum()


cdef int check_real(Tensor x, str kernel) except -1:
    """Refuse types that are not real floating-point types."""
    return check_real_type(code_of(x.array), kernel)


cdef int check_real_type(int dtype_code, str kernel) except -1:
    if not FLOAT16 <= dtype_code < COMPLEX64:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(dtype_code)}'")
    return 0


cdef cnp.ndarray number(double value, int dtype_code):
    """A 0-d array of float32 or float64."""
    cdef cnp.ndarray array = new_array(dtype_code, 0, NULL)
    if dtype_code == FLOAT32:
        (<float *> cnp.PyArray_DATA(array))[0] = <float> value
    else:
        (<double *> cnp.PyArray_DATA(array))[0] = value
    return array


# mse_loss

cdef void scaled_differences(const floating *x, const floating *y, const floating *g, bint each, double factor, npy_intp n,
                             floating *out) noexcept nogil:
    """out = factor * g * (x - y), with one g for `each` element or one for all."""
    cdef npy_intp i
    cdef floating scale = <floating> factor
    if each:
        for i in range(n):
            out[i] = scale * g[i] * (x[i] - y[i])
    else:
        scale = <floating> (factor * g[0])
        for i in range(n):
            out[i] = scale * (x[i] - y[i])


cdef void squares(const floating *x, const floating *y, npy_intp n, floating *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = (x[i] - y[i]) * (x[i] - y[i])


cdef double sum_of_squares(const floating *x, const floating *y, npy_intp n) noexcept nogil:
    """The sum of squared differences, in eight partial sums, so that the loop is vectorized."""
    cdef double[8] sums
    cdef double total = 0
    cdef floating d
    cdef npy_intp i, k, whole = n - n % 8
    for k in range(8):
        sums[k] = 0
    for i in range(0, whole, 8):
        for k in range(8):
            d = x[i + k] - y[i + k]
            sums[k] += d * d
    for i in range(whole, n):
        d = x[i] - y[i]
        total += d * d
    for k in range(8):
        total += sums[k]
    return total


cdef cnp.ndarray squared_differences(cnp.ndarray a, cnp.ndarray b, int type_code, int reduction):
    """The squared differences of two arrays of one shape, their mean or their sum, in that type."""
    cdef int dtype_code = max(type_code, <int> FLOAT32)
    if dtype_code == LONGDOUBLE:
        losses = np.asarray(np.square(cast(a, dtype_code) - cast(b, dtype_code)))
        return losses if reduction == NONE else np.asarray(losses.mean() if reduction == MEAN else losses.sum())
    cdef cnp.ndarray x = flat(a, dtype_code), y = flat(b, dtype_code), out
    cdef void *p = cnp.PyArray_DATA(x)
    cdef void *q = cnp.PyArray_DATA(y)
    cdef npy_intp n = cnp.PyArray_SIZE(x)
    cdef double total
    if reduction == NONE:
        out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
        if dtype_code == FLOAT32:
            squares(<float *> p, <float *> q, n, <float *> cnp.PyArray_DATA(out))
        else:
            squares(<double *> p, <double *> q, n, <double *> cnp.PyArray_DATA(out))
    else:
        if dtype_code == FLOAT32:
            total = sum_of_squares(<float *> p, <float *> q, n)
        else:
            total = sum_of_squares(<double *> p, <double *> q, n)
        out = number(total / n if reduction == MEAN else total, dtype_code)
    return in_type(out, type_code)


@cython.final
cdef class MseLossBackward0(Node):
    """The constants: the reduction, and the divisor of the sum."""

    cdef tuple saved_names(self):
        return ("self", "target", None)

    cdef tuple constant_names(self):
        return ("reduction",)

    cdef object vjp_array(self, object gradient, int i, Request *request):
        if code_of(<cnp.ndarray> gradient) == LONGDOUBLE:
            return Node.vjp_array(self, gradient, i, request)
        cdef int dtype_code = kernel_code(<cnp.ndarray> gradient)
        cdef cnp.ndarray g = flat(<cnp.ndarray> gradient, dtype_code)
        cdef cnp.ndarray operand = saved_array(self, i)
        cdef cnp.ndarray x = flat(operand, dtype_code), y = flat(saved_array(self, 1 - i), dtype_code)
        cdef cnp.ndarray out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
        cdef bint each = self.constants[0] == NONE
        cdef double factor = 2 / <double> self.constants[1]
        if dtype_code == FLOAT32:
            scaled_differences(<float *> cnp.PyArray_DATA(x), <float *> cnp.PyArray_DATA(y),
                               <float *> cnp.PyArray_DATA(g), each, factor, cnp.PyArray_SIZE(x),
                               <float *> cnp.PyArray_DATA(out))
        else:
            scaled_differences(<double *> cnp.PyArray_DATA(x), <double *> cnp.PyArray_DATA(y),
                               <double *> cnp.PyArray_DATA(g), each, factor, cnp.PyArray_SIZE(x),
                               <double *> cnp.PyArray_DATA(out))
        return in_type(out, code_of(operand))

    cdef object vjp(self, object g, int i):
        operand = unpack(self, i)
        return ((operand - unpack(self, 1 - i)) * (g * (2 / <double> self.constants[1]))).to(operand.dtype)

    cdef object vjp_of_zeros(self, object g, int i):
        return zeroed(self.vjp(g, i), g == 0)


cdef Tensor mse(Tensor x, Tensor y, int reduction):
    """mse_loss of two tensors of one shape."""
    cdef int dtype_code = code_of(x.array)
    if dtype_code != code_of(y.array):
        dtype_code = promote(dtype_code, code_of(y.array))
    check_real_type(dtype_code, "mse_cpu")
    cdef Tensor loss = new_tensor(squared_differences(x.array, y.array, dtype_code, reduction))
    cdef Node node
    if needs_node(x) or needs_node(y):
        node = MseLossBackward0.__new__(MseLossBackward0)
        node.constants = (reduction, max(cnp.PyArray_SIZE(x.array), 1) if reduction == MEAN else 1)
        save_input(node, 0, x)
        save_input(node, 1, y)
        record2(node, loss, x, y)
    return loss


cdef tuple of_one_shape(Tensor x, Tensor y):
    """Two tensors broadcast to one shape, with a warning."""
    warnings.warn(f"Using a target size ({y.shape}) that is different to the input size ({x.shape}). This will likely "
                  "lead to incorrect results due to broadcasting. Please ensure they have the same size.",
                  UserWarning, stacklevel=2)
    cdef tuple sizes = broadcast_sizes(shape_of(x), shape_of(y))
    cdef object a = x, b = y
    return tuple([z if shape_of(<Tensor> z) == sizes else z.expand(sizes) for z in (a, b)])


def batched_loss(call, input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """mse_loss and l1_loss with a separate mean for each sample."""
    cdef int how = reduction_of(reduction, size_average, reduce)
    x, y = elementwise_arguments(call.function.__name__, input, target, weight)
    errors = (x - y).abs() if call.function is l1_loss else (x - y) ** 2
    return reduced(errors, how) if weight is None else weighted(errors, weight, how)


@op(namespace="nn.functional", batch=batched_loss)
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """mse_loss(input, target, reduction='mean', weight=None) -> Tensor: the mean of (input - target) ** 2.

    Other reductions: 'sum', 'none'. With a `weight` for each element the mean is the weighted one. A target of another
    size is broadcast, with a warning.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.mse_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 5.0]))
    tensor(4.5000)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    x, y = elementwise_arguments("mse_loss", input, target, weight)
    return mse(x, y, how) if weight is None else weighted((x - y) ** 2, weight, how)


@op(namespace="nn.functional", batch=batched_loss)
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """l1_loss(input, target, reduction='mean', weight=None) -> Tensor: the mean of abs(input - target).

    Other reductions: 'sum', 'none'. With a `weight` for each element the mean is the weighted one. A target of another
    size is broadcast, with a warning. The gradient where they are equal is 0.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.l1_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 5.0]))
    tensor(1.5000)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    x, y = elementwise_arguments("l1_loss", input, target, weight)
    errors = (x - y).abs()
    return reduced(errors, how) if weight is None else weighted(errors, weight, how)


cdef tuple elementwise_arguments(str name, object input, object target, object weight):
    """Input and target of an elementwise loss, in one shape; a weight must have the input's shape."""
    cdef Tensor x = tensor_argument(input, name, "input", 1), y = tensor_argument(target, name, "target", 2)
    if weight is not None and shape_of(tensor_argument(weight, name, "weight", 6)) != shape_of(x):
        raise ValueError("Weights and input must have the same size.")
    return (x, y) if cnp.PyArray_SAMESHAPE(x.array, y.array) else of_one_shape(x, y)


cdef object weighted(object losses, object weight, int how):
    """The losses, their sum or their mean, each with its weight."""
    losses = losses * weight
    return losses.sum() / weight.sum() if how == MEAN else reduced(losses, how)
