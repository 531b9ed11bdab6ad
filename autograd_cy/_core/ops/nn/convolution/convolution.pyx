"""convolution in one to three dimensions, also transposed. conv1d, conv2d and the others call it."""

cimport cython

from autograd_cy._core.arrays.buffers cimport (
    channels_at_end, has_channels_last, in_c_order, in_format, in_type_and_order, is_flat, sizes_of)
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.kernels.loops cimport copied
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op


# the node

cdef object nothing_of(object x):
    """0 with the history of a tensor, for gradients of an empty batch."""
    return x.reshape(-1)[:0].sum()


@cython.final
cdef class ConvolutionBackward0(Node):
    """Its constants: the settings as given (one for all dimensions, or one for each), the sizes of the bias, the input, the
    weight and the result."""
    cdef cnp.ndarray dense              # the incoming gradient, until all gradients are computed from it

    cdef tuple saved_names(self):
        return ("input", "weight", None)

    cdef tuple constant_names(self):
        return ("stride", "padding", "dilation", "transposed", "output_padding", "groups", "bias_sym_sizes_opt", None,
                None, None)

    cdef object vjp_array(self, object gradient, int i, Request *request):
        cdef cnp.ndarray g = <cnp.ndarray> gradient, x = saved_array(self, 0), weight = saved_array(self, 1), out
        cdef tuple constants = <tuple> self.constants, result = sizes_of(g)
        cdef tuple own = unchanged(self, x, constants[7]), weights = unchanged(self, weight, constants[8])
        cdef bint transposed = constants[3], channels_last = has_channels_last(x) or has_channels_last(weight)
        cdef tuple images = result if transposed else own, places = own if transposed else result
        cdef int n = len(own) - 2
        cdef Geometry of = geometry(images, weights, places, expanded(constants[0], "stride", n), expanded(
            constants[1], "padding", n), expanded(constants[2], "dilation", n), constants[5])
        g = self.dense_gradient(g, request, goes_by_channels(&of, channels_last))
        if i == 2:
            out = summed(g, constants[6])
        elif i == 1:
            out = correlated(&of, g if transposed else x, x if transposed else g, weights, channels_last)
        elif transposed:
            out = convolved(&of, g, weight, None, own, channels_last)
        else:
            out = convolved_back(&of, g, weight, own, channels_last)
        return in_type_and_order(out, code_of(g))

    cdef cnp.ndarray dense_gradient(self, cnp.ndarray g, Request *request, bint channels_last):
        """The gradient, copied once if it is not dense or not in the kernels' order."""
        if is_flat(channels_at_end(g) if channels_last else g):
            return g
        if self.dense is not None:
            return self.dense
        if channels_last:
            g = in_format(g, True)
        else:
            g = in_c_order(g, code_of(g)) if has_channels_last(g) else copied(g)
        if request.may_consume:         # no other backward follows: the next requests use the same gradient
            self.dense = g
        return g

    cdef int release_saved(self) except -1:
        self.dense = None
        return Node.release_saved(self)

    cdef int forget_common(self) except -1:
        self.dense = None
        return 0

    cdef object vjp(self, object g, int i):
        cdef Tensor x = unpack(self, 0), weight = unpack(self, 1)
        found = self.gradient(g, i, x, weight)
        return found if i == 2 else in_format_of(found, has_channels_last(x.array) or has_channels_last(weight.array))

    cdef object gradient(self, object g, int i, object x, object weight):
        if i != 2 and (x.numel() == 0 or g.numel() == 0):
            return g.new_zeros(x.shape if i == 0 else weight.shape) + nothing_of(g) * nothing_of(weight if i == 0 else x)
        stride, padding, dilation, transposed, _output_padding, groups = (<tuple> self.constants)[:6]
        if i == 2:
            return g.sum((0, *range(2, g.dim())))
        if i == 1:
            return weight_gradient(g if transposed else x, x if transposed else g, tuple(weight.shape[2:]), stride, padding,
                                   dilation, groups)
        rest = (0,) if transposed else left_over(
            tuple(x.shape[2:]), tuple(g.shape[2:]), tuple(weight.shape[2:]), stride, padding, dilation)
        y = convolution(g, weight, None, stride, padding, dilation, not transposed, rest, groups)
        return first_of(y, tuple(x.shape[2:]))

    cdef object jvp(self, tuple tangents):
        cdef tuple settings = (<tuple> self.constants)[:6]
        x, weight, bias = tangents
        total = None
        if x is not None:
            total = convolution(x, unpack(self, 1), None, *settings)
        if weight is not None:
            term = convolution(unpack(self, 0), weight, None, *settings)
            total = term if total is None else total + term
        if bias is not None:
            sizes = (<tuple> self.constants)[9]
            bias = bias.reshape(-1, *[1] * (len(<tuple> sizes) - 2))
            total = bias.expand(sizes) if total is None else total + bias
        return total


cdef tuple unchanged(Node node, cnp.ndarray array, tuple sizes):
    """The sizes of a saved array; RuntimeError if ndarray.resize(), which counts no write, changed them."""
    cdef tuple now = sizes_of(array)
    if now != sizes:
        raise RuntimeError(f"{node.name()}: the memory of a saved tensor was resized, from {list(sizes)} to {list(now)}")
    return now


cdef tuple left_over(tuple sizes, tuple places, tuple kernel, tuple stride, tuple padding, tuple dilation):
    """By how much images exceed the result of the transposed convolution of the places."""
    cdef int n = len(sizes)
    stride, padding = expanded(stride, "stride", n), expanded(padding, "padding", n)
    dilation = expanded(dilation, "dilation", n)
    return tuple([n - ((m - 1) * s - 2 * p + d * (k - 1) + 1)
                  for n, m, k, s, p, d in zip(sizes, places, kernel, stride, padding, dilation, strict=True)])


cpdef object weight_gradient(object x, object g, tuple kernel, tuple stride, tuple padding, tuple dilation, object groups):
    """By operations: the images convolved by the incoming gradient, with batch and channels exchanged."""
    cdef int n = len(kernel)
    batch, channels = x.shape[0], x.shape[1] // groups
    x = x.reshape(batch, groups, channels, *x.shape[2:]).transpose(0, 2).reshape(channels, groups * batch, *x.shape[2:])
    y = convolution(x, g.transpose(0, 1), None, dilation, padding, stride, False, (0,) * n, groups)
    return first_of(y, kernel).transpose(0, 1).contiguous()


cdef object first_of(object y, tuple sizes):
    """Cut all but the first two dimensions to these sizes: elements from a remainder at the end are left out."""
    for k, size in enumerate(sizes):
        if y.shape[2 + k] != size:
            y = y.narrow(2 + k, 0, size)
    return y


# the operation

def batched_convolution(call, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    cdef tuple own = shape_of(<Tensor?> input), weights = shape_of(<Tensor?> weight)
    if len(own) != len(weights) or len(own) < 3 or (bias is not None and rank_of(bias) != 1):
        call.on_sample(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    settings = (stride, padding, dilation, transposed, output_padding)
    n, x, w = call.size, call.value(input), call.value(weight)
    if not call.is_batched(weight) and not call.is_batched(input):
        y = call(x, w, None, *settings, groups)
    elif not call.is_batched(weight):
        y = call(x.flatten(0, 1), w, None, *settings, groups)
        y = y.reshape(n, own[0], *y.shape[1:])
    elif n == 0:
        return call.nothing(input, weight, bias, *settings, groups)
    else:
        x = x.transpose(0, 1) if call.is_batched(input) else x.unsqueeze(1).expand(own[0], n, *own[1:])
        y = call(x.flatten(1, 2), w.flatten(0, 1), None, *settings, groups * n)
        y = y.reshape(own[0], n, y.shape[1] // n, *y.shape[2:]).transpose(0, 1)
    if bias is None:
        return y
    b = call.value(bias)
    return y + b.reshape(*b.shape[:-1], *([1] if call.is_batched(bias) else []), b.shape[-1], *[1] * (len(own) - 2))


@op(batch=batched_convolution)
def convolution(input, weight, bias, stride: _Dims, padding: _Dims, dilation: _Dims, transposed: bool,
                output_padding: _Dims, groups: int):
    """convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups) -> Tensor: what
    conv1d(), conv2d(), conv3d() and their transposed versions call; `input` is (batch, channels, sizes...).

    At each place, the sum of the kernel times the patch there. `weight` is (filters, channels / groups, kernel...), or,
    transposed, (channels, filters / groups, kernel...); `bias` has an element for each filter, or is None.
    Each setting is a tuple: one for all dimensions, or one for each. RuntimeError for sizes and types that don't fit.

    >>> import autograd_cy as ag
    >>> x, w = ag.tensor([[[1.0, 2.0, 3.0]]]), ag.tensor([[[1.0, 10.0]]])
    >>> ag.convolution(x, w, None, (1,), (0,), (1,), False, (0,), 1)
    tensor([[[21., 32.]]])
    """
    cdef Tensor x = tensor_argument(input, "convolution", "input", 1)
    cdef Tensor w = tensor_argument(weight, "convolution", "weight", 2)
    cdef Tensor b = None if bias is None else tensor_argument(bias, "convolution", "bias", 3)
    stride, padding = integers(stride, "convolution", "stride", 4), integers(padding, "convolution", "padding", 5)
    dilation = integers(dilation, "convolution", "dilation", 6)
    output_padding = integers(output_padding, "convolution", "output_padding", 8)
    return convolution_of(x, w, b, stride, padding, dilation, transposed, output_padding, groups, None)


cdef object int_argument(object groups):
    if isinstance(groups, bool) or not hasattr(groups, "__index__"):
        raise TypeError(f"convolution(): argument 'groups' (position 9) must be int, not {type(groups).__name__}")
    return groups.__index__()


cdef Tensor convolution_of(Tensor x, Tensor w, Tensor b, tuple stride, tuple padding, tuple dilation, bint transposed,
                           tuple output_padding, object groups, tuple without_bias):
    """The convolution, with settings as the node shows them. Without a bias, the node shows `without_bias` as its sizes."""
    cdef tuple own = shape_of(x), weights = shape_of(w), biases = None if b is None else shape_of(b), sizes
    cdef int n = len(weights) - 2
    if n < 1:
        raise RuntimeError("weight should have at least three dimensions")
    if n > 3:
        raise NotImplementedError(f"convolution(): expected 1 to 3 dimensions, got a weight of size {list(weights)}")
    if type(groups) is not int:
        groups = int_argument(groups)
    cdef tuple steps = expanded(stride, "stride", n), pads = expanded(padding, "padding", n)
    cdef tuple spread = expanded(dilation, "dilation", n), rest = expanded(output_padding, "output_padding", n)
    cdef Node node
    cdef Tensor y
    check_settings(steps, pads, spread, rest, groups)
    check_operands(own, weights, biases, transposed, groups)
    check_types(x, w, b, transposed)
    if transposed:
        sizes = transposed_sizes(own, weights, steps, pads, spread, rest, groups)
    else:
        sizes = result_sizes(own, weights, steps, pads, spread)
    check_memory(sizes, "convolution")
    y = new_tensor(computed(x.array, w.array, None if b is None else b.array, steps, pads, spread, transposed, groups, sizes,
                            has_channels_last(x.array) or has_channels_last(w.array)))
    if not (needs_node(x) or needs_node(w) or (b is not None and needs_node(b))):
        return y
    node = new_node(ConvolutionBackward0, (stride, padding, dilation, transposed, output_padding, groups,
                                           without_bias if b is None else biases, own, weights, sizes))
    save_input(node, 0, x)
    save_input(node, 1, w)
    return record_all(node, y, (x, w, b))
