"""layer_norm: normalization over the last dimensions, with a weight and a bias for each place in them."""

import numpy as np

cimport cython
from libc.math cimport sqrt

from autograd_cy._core.arrays.buffers cimport flat, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport (
    FLOAT16, FLOAT32, FLOAT64, code_of, dtype_of, is_half, kernel_code, type_word)
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, saved_like, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.norm_loops cimport layer_gradient, layer_weight_gradient, normalize_layers
from autograd_cy._core.kernels.reduction_loops cimport total_of
from autograd_cy._core.ops.reductions.sums cimport fourth_powers_fit, scales_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.ops.registry import op


# arrays

cdef struct Layers:         # a dense array viewed as rows of n elements
    npy_intp rows, n


cdef Layers layers_of(cnp.ndarray array, int ndim) noexcept:
    """The rows of an array that is normalized over its last `ndim` dimensions."""
    cdef Layers layers = Layers(1, 1)
    cdef int axis, first = cnp.PyArray_NDIM(array) - ndim
    for axis in range(first):
        layers.rows *= cnp.PyArray_DIM(array, axis)
    for axis in range(first, first + ndim):
        layers.n *= cnp.PyArray_DIM(array, axis)
    return layers


cdef void *data_of(cnp.ndarray array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


cdef cnp.ndarray moments(cnp.ndarray x, int dtype_code, int ndim):
    """A new array with one number for each row."""
    cdef npy_intp[64] dims
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(x)):
        dims[axis] = cnp.PyArray_DIM(x, axis) if axis < cnp.PyArray_NDIM(x) - ndim else 1
    return new_array(dtype_code, cnp.PyArray_NDIM(x), dims)


cdef tuple normalized_layers(Tensor input, Tensor weight, Tensor bias, int ndim, double eps):
    """The result, the means, and the scales of deviations from them; the last two in float32 or float64."""
    cdef int dtype_code = kernel_code(input.array)
    cdef cnp.ndarray x = flat(input.array, dtype_code), y = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    cdef cnp.ndarray w = None if weight is None else flat(weight.array, dtype_code)
    cdef cnp.ndarray b = None if bias is None else flat(bias.array, dtype_code)
    cdef cnp.ndarray means = moments(x, dtype_code, ndim), scales = moments(x, dtype_code, ndim)
    cdef Layers of = layers_of(x, ndim)
    if dtype_code == FLOAT32:
        normalize_layers(<float *> data_of(x), <float *> data_of(w), <float *> data_of(b), <float *> data_of(y),
                         <float *> data_of(means), <float *> data_of(scales), of.rows, of.n, eps)
    else:
        normalize_layers(<double *> data_of(x), <double *> data_of(w), <double *> data_of(b), <double *> data_of(y),
                         <double *> data_of(means), <double *> data_of(scales), of.rows, of.n, eps)
    return in_type(y, code_of(input.array)), means, scales


# the node

@cython.final
cdef class NativeLayerNormBackward0(Node):
    """The constants: the normalized sizes, eps, and forward's means and scales, until they are released.

    dtype_codes: the types of the input and of the parameters.
    """

    cdef tuple saved_names(self):
        return ("input", "weight", "bias")

    cdef tuple constant_names(self):
        return ("normalized_shape",)

    @property
    def _saved_result1(self):
        """The means."""
        return self.kept(2)

    @property
    def _saved_result2(self):
        """The reciprocal standard deviations."""
        return self.kept(3)

    cdef object kept(self, int k):
        unpack(self, 0)                         # raises if it was released
        return new_tensor(in_type(<cnp.ndarray> self.constants[k], self.dtype_codes[1]))

    cdef int release_saved(self) except -1:
        if len(<tuple> self.constants) > 2:
            self.constants = (<tuple> self.constants)[:2]
        return Node.release_saved(self)

    cdef object vjp_array(self, object gradient, int i, Request *request):
        cdef cnp.ndarray g = <cnp.ndarray> gradient, out = None, x = saved_like(self, 0, g)
        cdef cnp.ndarray w = None if self.saved1 is None else saved_array(self, 1)
        cdef tuple constants = self.constants
        cdef int dtype_code = kernel_code(x), ndim = len(<tuple> constants[0])
        unpack(self, 2)                         # the bias isn't read, but a changed one is an error, as in PyTorch
        if request.may_overwrite and code_of(g) == dtype_code:
            out = g
        g = flat(g, dtype_code)
        if i == 0:
            w = None if w is None else flat(w, dtype_code)
            return in_type(input_gradient(g, flat(x, dtype_code), w, constants, ndim, out), self.dtype_codes[0])
        if i == 1:
            return in_type(weight_gradient(g, flat(x, dtype_code), constants, ndim), self.dtype_codes[1])
        g = g.reshape((layers_of(g, ndim).rows,) + <tuple> constants[0])
        return in_type(total_of(g, dtype_code, 1, False), self.dtype_codes[1])

    cdef object vjp(self, object g, int i):
        cdef int dtype_code = kernel_code((<Tensor> unpack(self, 0)).array)
        g = g.to(dtype_of(dtype_code))
        unpack(self, 2)
        if i == 2:
            return g.sum_to_size(self.constants[0]).to(dtype_of(self.dtype_codes[1]))
        z, scale = self.standardized(dtype_code)
        if i == 1:
            return (g * z).sum_to_size(self.constants[0]).to(dtype_of(self.dtype_codes[1]))
        if self.saved1 is not None:
            g = g * unpack(self, 1).to(dtype_of(dtype_code))
        return projected(g, z, scale, self.dims()).to(dtype_of(self.dtype_codes[0]))

    cdef object vjp_of_zeros(self, object g, int i):
        cdef int dtype_code = kernel_code((<Tensor> unpack(self, 0)).array)
        if i == 1:
            z, _ = self.standardized(dtype_code)
            products = zeroed(g.to(dtype_of(dtype_code)) * z, g == 0)
            return products.sum_to_size(self.constants[0]).to(dtype_of(self.dtype_codes[1]))
        return zeroed(self.vjp(g, i), (g == 0).all(self.dims(), True)) if i == 0 else self.vjp(g, i)

    cdef tuple standardized(self, int dtype_code):
        """(input - mean) * scale and the scale, as operations on the input in type `dtype_code`."""
        return standardized(unpack(self, 0).to(dtype_of(dtype_code)), self.dims(), self.constants[1], self.constants[3])

    cdef tuple dims(self):
        return tuple(range(-len(<tuple> self.constants[0]), 0))


cdef tuple standardized(object x, tuple dims, double eps, cnp.ndarray known):
    """(x - mean) * scale over the dimensions, and the scale, as operations; `known` is forward's scale.

    If squares, here or in derivatives, might leave the range of the type, the elements are first multiplied by a power of two
    near the scale.
    """
    if fourth_powers_fit(known):
        x = x - x.mean(dims, True)
        scale = ((x * x).mean(dims, True) + eps).rsqrt()
        return x * scale, scale
    near = scales_of(known)
    rest, near = new_tensor(np.asarray((sqrt(eps) * near) ** 2)), new_tensor(near)
    x = x * near
    x = x - x.mean(dims, True)
    scale = ((x * x).mean(dims, True) + rest).rsqrt()
    return x * scale, scale * near


cdef object projected(object h, object z, object scale, tuple dims):
    """Apply the derivative of z = standardized(x), which is symmetric, to h."""
    return (h - h.mean(dims, True) - z * (h * z).mean(dims, True)) * scale


cdef cnp.ndarray input_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray w, tuple constants, int ndim, cnp.ndarray out):
    """Write to `out`, which may be g, or to a new array if it is None."""
    cdef int dtype_code = code_of(g)
    cdef Layers of = layers_of(x, ndim)
    cdef void *means = cnp.PyArray_DATA(<cnp.ndarray> constants[2])
    cdef void *scales = cnp.PyArray_DATA(<cnp.ndarray> constants[3])
    if out is None:
        out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    if dtype_code == FLOAT32:
        layer_gradient(<float *> data_of(g), <float *> data_of(x), <float *> data_of(w), <float *> means, <float *> scales,
                       <float *> data_of(out), of.rows, of.n)
    else:
        layer_gradient(<double *> data_of(g), <double *> data_of(x), <double *> data_of(w), <double *> means,
                       <double *> scales, <double *> data_of(out), of.rows, of.n)
    return out


cdef cnp.ndarray weight_gradient(cnp.ndarray g, cnp.ndarray x, tuple constants, int ndim):
    cdef int dtype_code = code_of(g)
    cdef Layers of = layers_of(x, ndim)
    cdef cnp.ndarray out = new_array(dtype_code, ndim, cnp.PyArray_DIMS(x) + cnp.PyArray_NDIM(x) - ndim)
    cdef void *means = cnp.PyArray_DATA(<cnp.ndarray> constants[2])
    cdef void *scales = cnp.PyArray_DATA(<cnp.ndarray> constants[3])
    if dtype_code == FLOAT32:
        layer_weight_gradient(<float *> data_of(g), <float *> data_of(x), <float *> means, <float *> scales,
                              <float *> data_of(out), of.rows, of.n)
    else:
        layer_weight_gradient(<double *> data_of(g), <double *> data_of(x), <double *> means, <double *> scales,
                              <double *> data_of(out), of.rows, of.n)
    return out


# the checks

cdef tuple sizes_argument(object value, str operation):
    """normalized_shape as a tuple of ints."""
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{operation}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
                        f"{type(value).__name__}")
    for position, size in enumerate(value):
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise TypeError(f"{operation}(): argument 'normalized_shape' (position 2) must be tuple of ints, but found "
                            f"element of type {type(size).__name__} at pos {position}")
    return tuple([size.__index__() for size in value])


cdef int check_sizes(Tensor x, tuple sizes, Tensor weight, Tensor bias) except -1:
    cdef tuple own = shape_of(x)
    if not sizes:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                           "but got normalized_shape = []")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and shape_of(<Tensor> parameter) != sizes:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                               f"{list(shape_of(<Tensor> parameter))} and normalized_shape = {list(sizes)}")
    if len(own) < len(sizes) or own[len(own) - len(sizes):] != sizes:
        raise RuntimeError(f"Given normalized_shape={list(sizes)}, expected input with shape "
                           f"[*, {', '.join(map(str, sizes))}], but got input of size{list(own)}")
    return 0


cdef int check_types(Tensor x, Tensor weight, Tensor bias, str operation, str kernel) except -1:
    """Check that parameters have the input's type, or float32 for a float16 input."""
    cdef int own = code_of(x.array)
    cdef int w = -1 if weight is None else code_of(weight.array), b = -1 if bias is None else code_of(bias.array)
    if not FLOAT16 <= own <= FLOAT64:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(own)}'")
    if w == own and b >= 0 and b != own:
        raise RuntimeError(f"{operation}(): expected scalar type {type_word(own)} but found {type_word(b)}")
    if (w < 0 or w == own) and (b < 0 or b == own):
        return 0
    if (w >= 0 and w != FLOAT32) or (b >= 0 and b != FLOAT32):
        raise RuntimeError(f"mixed dtype (CPU): expect parameter to have scalar type of Float ({operation}: the input is "
                           f"{type_word(own)}; weight and bias must be of its type, or Float if that is Half)")
    if not is_half(own):
        raise RuntimeError(f"mixed dtype (CPU): all inputs must share same datatype. ({operation}: the input is "
                           f"{type_word(own)}, weight or bias Float)")
    return 0


cdef double eps_argument(object value) except? -1:
    if not isinstance(value, (int, float)):
        raise TypeError(f"layer_norm(): argument 'eps' (position 5) must be float, not {type(value).__name__}")
    return value


# the operation

def batched_layer_norm(call, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    call.check_rank(input, len(normalized_shape), input, normalized_shape, weight, bias, eps)
    if not call.is_batched(weight) and not call.is_batched(bias):
        return call(call.value(input), normalized_shape, weight, bias, eps)
    if any([p is not None and list(p.shape) != list(normalized_shape) for p in (weight, bias)]):
        call.on_sample(input, normalized_shape, weight, bias, eps)          # raises with the reason
    y = layer_norm(input, normalized_shape, None, None, eps)
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias).to(input.dtype)


@op(namespace="nn.functional", batch=batched_layer_norm)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5) -> Tensor: mean 0 and variance 1.

    (input - mean) / sqrt(variance + eps) * weight + bias, with mean and (biased) variance over the last dimensions.
    `normalized_shape` has their sizes, which are also the shape of weight and bias. RuntimeError if they don't fit. float16
    is computed in float32, with parameters of either type. Source: Ba, Kiros, Hinton, "Layer normalization" (2016).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.layer_norm(ag.tensor([[1.0, 3.0], [0.0, 10.0]]), (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    cdef Tensor x = tensor_argument(input, "layer_norm", "input", 1)
    cdef tuple sizes = sizes_argument(normalized_shape, "layer_norm")
    cdef Tensor w = None if weight is None else tensor_argument(weight, "layer_norm", "weight", 3)
    cdef Tensor b = None if bias is None else tensor_argument(bias, "layer_norm", "bias", 4)
    cdef double number = eps_argument(eps)
    cdef cnp.ndarray array, means, scales
    cdef Node node
    check_sizes(x, sizes, w, b)
    check_types(x, w, b, "layer_norm", "LayerNormKernelImpl")
    array, means, scales = normalized_layers(x, w, b, len(sizes), number)
    cdef Tensor y = new_tensor(array)
    if not (needs_node(x) or (w is not None and needs_node(w)) or (b is not None and needs_node(b))):
        return y
    node = new_node(NativeLayerNormBackward0, (sizes, number, means, scales))
    node.dtype_codes[0] = code_of(x.array)
    node.dtype_codes[1] = code_of(x.array) if w is None and b is None else code_of(b.array) if w is None else code_of(w.array)
    save_input(node, 0, x)
    if w is not None:
        save_input(node, 1, w)
    if b is not None:
        save_input(node, 2, b)
    return record_all(node, y, (x, w, b))
