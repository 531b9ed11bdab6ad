"""conv1d, conv2d, conv3d and their transposed versions: one sample or a batch, named padding, complex numbers."""

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, code_of, type_word
from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE

from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import constant_pad_nd


cdef tuple setting(object value, str operation, str name, int position, int n):
    """A setting as a tuple; a number is repeated for each dimension."""
    if isinstance(value, (tuple, list)):
        return integers(value, operation, name, position)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{operation}(): argument '{name}' (position {position}) must be tuple of ints, not "
                        f"{type(value).__name__}")
    return integers((value,) * n, operation, name, position)


cdef object convolved_in(str operation, int n, object input, object weight, object bias, object stride, object padding,
                         object dilation, object groups):
    """In n dimensions."""
    cdef Tensor x = tensor_argument(input, operation, "input", 1), w = tensor_argument(weight, operation, "weight", 2)
    cdef object one = cnp.PyArray_NDIM(x.array) == n + 1
    check_rank(operation, n, x)
    stride = setting(stride, operation, "stride", 4, n)
    dilation = setting(dilation, operation, "dilation", 6, n)
    if one:
        input = input.unsqueeze(0)
    output_padding = (0,) * n
    if isinstance(padding, str):
        output_padding = (0,) if padding == "valid" else output_padding
        input, padding = named_padding(input, w, padding, stride, dilation)
    else:
        padding = setting(padding, operation, "padding", 5, n)
    y = of_any_type(input, w, bias, (stride, padding, dilation, False, output_padding, groups))
    return y.squeeze(0) if one else y


cdef object transposed_in(str operation, int n, object input, object weight, object bias, object stride, object padding,
                          object output_padding, object groups, object dilation):
    cdef Tensor x = tensor_argument(input, operation, "input", 1), w = tensor_argument(weight, operation, "weight", 2)
    cdef object one = cnp.PyArray_NDIM(x.array) == n + 1
    check_rank(operation, n, x)
    stride = setting(stride, operation, "stride", 4, n)
    padding = setting(padding, operation, "padding", 5, n)
    output_padding = setting(output_padding, operation, "output_padding", 6, n)
    dilation = setting(dilation, operation, "dilation", 8, n)
    y = of_any_type(input.unsqueeze(0) if one else input, w, bias, (stride, padding, dilation, True, output_padding, groups))
    if not y.shape[1]:
        raise RuntimeError(f"non-empty {'5D' if n == 3 else '2D or 4D'} weight tensor expected, but got: {list(w.shape)}")
    return y.squeeze(0) if one else y


cdef int check_rank(str operation, int n, Tensor x) except -1:
    if not n + 1 <= cnp.PyArray_NDIM(x.array) <= n + 2:
        raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {operation}, but got input of size: "
                           f"{list(shape_of(x))}")
    return 0


cdef tuple named_padding(object input, Tensor weight, str padding, tuple stride, tuple dilation):
    """(The input, the padding). The input gets an extra zero at the end of a dimension whose total padding is odd."""
    cdef int n = cnp.PyArray_NDIM(weight.array) - 2
    if padding == "valid":
        return input, (0,)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any([s != 1 for s in stride]):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    if n < 1 or cnp.PyArray_NDIM((<Tensor> input).array) != n + 2:
        return input, (0,) * max(n, 1)                          # convolution() refuses these
    total = [d * (k - 1) for k, d in zip(shape_of(weight)[2:], expanded(dilation, "dilation", n), strict=True)]
    if any([t % 2 for t in total]):
        input = constant_pad_nd(input, [pad for t in reversed(total) for pad in (0, t % 2)])
    return input, tuple([max(t // 2, 0) for t in total])


cdef object of_any_type(object input, Tensor w, object bias, tuple settings):
    """The convolution; for complex numbers, by three real ones."""
    cdef Tensor x = <Tensor> input
    cdef Tensor b = None if bias is None else tensor_argument(bias, "convolution", "bias", 3)
    cdef int dtype_code = code_of(x.array)
    if dtype_code < COMPLEX64:
        if x.batched or w.batched or (b is not None and b.batched):
            return convolution(x, w, bias, *settings)
        stride, padding, dilation, transposed, output_padding, groups = settings
        # without a bias, PyTorch's node shows the sizes of an empty tensor
        return convolution_of(x, w, b, stride, padding, dilation, transposed, output_padding, groups, (0,))
    check_complex(dtype_code, w, b)
    real = convolution(x.real, w.real, None if b is None else b.real, *settings)
    imaginary = convolution(x.imag, w.imag, None, *settings)
    both = convolution(x.real + x.imag, w.real + w.imag, None if b is None else b.real + b.imag, *settings)
    return (real - imaginary) + 1j * (both - real - imaginary)


cdef int check_complex(int dtype_code, Tensor weight, Tensor bias) except -1:
    if code_of(weight.array) != dtype_code:
        raise RuntimeError(f"Input type (CPU{type_word(dtype_code)}Type) and weight type "
                           f"(torch.{type_word(code_of(weight.array))}Tensor) should be the same")
    if bias is not None and code_of(bias.array) != dtype_code:
        raise RuntimeError(f"Input type ({C_TYPES[dtype_code]}) and bias type ({C_TYPES[code_of(bias.array)]}) should be the "
                           "same")
    return 0


# the operations

@op(batch=COMPOSITE)
def conv1d(input, weight, bias=None, stride: _Dims = 1, padding: _Dims | str = 0, dilation: _Dims = 1, groups: int = 1):
    """conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) -> Tensor: `weight` times each window.

    `input` is (batch, channels, n) or one sample (channels, n), `weight` (filters, channels / groups, k), `bias` has an
    element for each filter. Windows are `stride` apart, the kernel's elements `dilation`; `padding` zeros are on both sides:
    "same" keeps the size, "valid" means none. RuntimeError for sizes and types that don't fit.

    >>> import autograd_cy as ag
    >>> ag.conv1d(ag.tensor([[1.0, 2.0, 4.0, 8.0]]), ag.tensor([[[-1.0, 1.0]]]))
    tensor([[1., 2., 4.]])
    """
    return convolved_in("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@op(batch=COMPOSITE)
def conv2d(input, weight, bias=None, stride: _Dims = 1, padding: _Dims | str = 0, dilation: _Dims = 1, groups: int = 1):
    """conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) -> Tensor: `weight` times each window.

    `input` is (batch, channels, height, width) or one sample without batch, `weight` (filters, channels / groups, height,
    width); settings are a number or one for each dimension, else as for conv1d().

    >>> import autograd_cy as ag
    >>> ag.conv2d(ag.arange(9.0).reshape(1, 3, 3), ag.ones(1, 1, 2, 2))
    tensor([[[ 8., 12.],
             [20., 24.]]])
    """
    return convolved_in("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@op(batch=COMPOSITE)
def conv3d(input, weight, bias=None, stride: _Dims = 1, padding: _Dims | str = 0, dilation: _Dims = 1, groups: int = 1):
    """conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) -> Tensor: `weight` times each window.

    `input` is (batch, channels, depth, height, width) or one sample without batch, `weight` (filters, channels / groups,
    depth, height, width); settings are a number or one for each dimension, else as for conv1d().

    >>> import autograd_cy as ag
    >>> ag.conv3d(ag.ones(1, 2, 2, 3), ag.ones(1, 1, 2, 2, 2))
    tensor([[[[8., 8.]]]])
    """
    return convolved_in("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


@op(batch=COMPOSITE)
def conv_transpose1d(input, weight, bias=None, stride: _Dims = 1, padding: _Dims = 0, output_padding: _Dims = 0,
                     groups: int = 1, dilation: _Dims = 1):
    """conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) -> Tensor: the
    gradient of conv1d() with respect to its input, as an operation.

    Each element of `input`, (batch, channels, n) or (channels, n), adds itself times `weight`, (channels, filters / groups,
    k), to the result, whose size is (n - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1.

    >>> import autograd_cy as ag
    >>> ag.conv_transpose1d(ag.tensor([[1.0, 2.0]]), ag.tensor([[[1.0, 1.0, 1.0]]]), stride=2)
    tensor([[1., 1., 3., 2., 2.]])
    """
    return transposed_in("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(batch=COMPOSITE)
def conv_transpose2d(input, weight, bias=None, stride: _Dims = 1, padding: _Dims = 0, output_padding: _Dims = 0,
                     groups: int = 1, dilation: _Dims = 1):
    """conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) -> Tensor: the
    gradient of conv2d() with respect to its input, as an operation; see conv_transpose1d().

    >>> import autograd_cy as ag
    >>> ag.conv_transpose2d(ag.tensor([[[1.0, 2.0]]]), ag.ones(1, 1, 2, 2))
    tensor([[[1., 3., 2.],
             [1., 3., 2.]]])
    """
    return transposed_in("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(batch=COMPOSITE)
def conv_transpose3d(input, weight, bias=None, stride: _Dims = 1, padding: _Dims = 0, output_padding: _Dims = 0,
                     groups: int = 1, dilation: _Dims = 1):
    """conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) -> Tensor: the
    gradient of conv3d() with respect to its input, as an operation; see conv_transpose1d().

    >>> import autograd_cy as ag
    >>> ag.conv_transpose3d(ag.ones(1, 1, 1, 2), ag.ones(1, 1, 1, 1, 2))
    tensor([[[[1., 2., 1.]]]])
    """
    return transposed_in("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)
