"""unfold and fold: sliding windows of images as columns, and columns summed into images."""

cimport cython

from autograd_cy._core.arrays.buffers cimport flat, in_type
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, check_has_kernel, code_of, kernel_code, type_word
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport record_linear, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.convolutions cimport Sliding, slide
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op


# the nodes

@cython.final
cdef class Im2ColBackward0(Node):
    cdef tuple constant_names(self):
        return ("kernel_size", "dilation", "padding", "stride", "self_sym_argsize_minus_2", "self_sym_argsize_minus_1")

    cdef tuple arguments(self):
        return (<tuple> self.constants)[:4]

    cdef object vjp(self, object g, int i):
        return fold(g, (<tuple> self.constants)[4:], *self.arguments())


@cython.final
cdef class Col2ImBackward0(Node):
    cdef tuple constant_names(self):
        return (None, "kernel_size", "dilation", "padding", "stride")

    cdef object vjp(self, object g, int i):
        return unfold(g, *(<tuple> self.constants)[1:])


# arguments

cdef tuple pair(object value, str operation, str name, int position):
    """Of one number, or of two."""
    if not isinstance(value, (tuple, list)):
        value = (value, value)
    value = integers(value, operation, name, position)
    if len(value) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    return value


cdef tuple windows_of(str operation, int position, object kernel_size, object dilation, object padding, object stride):
    """The four settings as checked pairs."""
    kernel = pair(kernel_size, operation, "kernel_size", position)
    dilations = pair(dilation, operation, "dilation", position + 1)
    paddings = pair(padding, operation, "padding", position + 2)
    strides = pair(stride, operation, "stride", position + 3)
    for name, short, values, least in (("kernel size", "kernel", kernel, 1), ("stride", "stride", strides, 1),
                                       ("dilation", "dilation", dilations, 1), ("padding", "pad", paddings, 0)):
        if min(values) < least:
            raise RuntimeError(f"{name} should be {'greater than zero' if least else 'non-negative'}, but got "
                               f"{short}_height: {values[0]} {short}_width: {values[1]}")
    return kernel, dilations, paddings, strides


cdef tuple blocks_of(tuple sizes, tuple windows):
    """The number of windows along each side."""
    kernel, dilation, padding, stride = windows
    return tuple([(sizes[k] + 2 * padding[k] - dilation[k] * (kernel[k] - 1) - 1) // stride[k] + 1 for k in range(2)])


cdef int check_type(Tensor x, str kernel) except -1:
    check_has_kernel(code_of(x.array), kernel)
    if BOOL < code_of(x.array) < FLOAT16:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(code_of(x.array))}'")
    return 0


cdef cnp.ndarray moved(cnp.ndarray x, tuple sizes, tuple picture, tuple windows, bint adding):
    """Columns from images, or images from columns, of these sizes."""
    cdef int dtype_code = kernel_code(x), k
    cdef cnp.ndarray y = empty(dtype_code, sizes), source = flat(x, dtype_code)
    cdef Sliding of
    cdef tuple blocks = blocks_of(picture, windows)
    for k in range(2):
        of.size[k], of.blocks[k] = picture[k], blocks[k]
        of.kernel[k], of.dilation[k], of.padding[k], of.stride[k] = [values[k] for values in windows]
    of.parts = 2 if dtype_code >= COMPLEX64 else 1
    if adding:
        y.fill(0)
        slide(&of, y, source, cnp.PyArray_SIZE(y) // (of.size[0] * of.size[1]), True)
    else:
        slide(&of, source, y, cnp.PyArray_SIZE(source) // (of.size[0] * of.size[1]), False)
    return in_type(y, code_of(x))


# the operations

def folded_batch(call, input, *args, **kwargs):
    """Merge the samples into the batch."""
    cdef int rank = rank_of(input), single = 3 if call.function is unfold else 2
    x = call.value(input)
    if rank != single + 1:
        return call(x, *args, **kwargs) if rank == single else call.on_sample(input, *args)
    y = call(x.flatten(0, 1), *args, **kwargs)
    return y.reshape(*x.shape[:2], *y.shape[1:])


@op(namespace="nn.functional", linear=Im2ColBackward0, batch=folded_batch)
def unfold(input, kernel_size: _Dims, dilation: _Dims = 1, padding: _Dims = 0, stride: _Dims = 1):
    """unfold(input, kernel_size, dilation=1, padding=0, stride=1) -> Tensor: sliding windows of images, as columns.

    `input` is (batch, channels, height, width) or one sample without batch, the result (batch, channels * kernel elements,
    windows). Settings are a number or a pair; `padding` zeros are on each side. RuntimeError for sizes that don't fit.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.unfold(ag.arange(6.0).reshape(1, 2, 3), 2)
    tensor([[0., 1.],
            [1., 2.],
            [3., 4.],
            [4., 5.]])
    """
    cdef Tensor x = tensor_argument(input, "unfold", "input", 1)
    cdef tuple windows = windows_of("unfold", 2, kernel_size, dilation, padding, stride), own = shape_of(x), blocks, sizes
    if len(own) not in (3, 4) or 0 in own[len(own) - 3:]:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
                           f"for input, but got: {list(own)}")
    blocks = blocks_of(own[len(own) - 2:], windows)
    if min(blocks) < 1:
        raise RuntimeError(f"Given input with spatial size {own[len(own) - 2:]}, kernel_size={windows[0]}, "
                           f"dilation={windows[1]}, padding={windows[2]}, calculated shape of the array of sliding blocks as "
                           f"{blocks}, but its components must be at least one.")
    check_type(x, "im2col_out_cpu")
    sizes = (*own[:len(own) - 3], own[len(own) - 3] * windows[0][0] * windows[0][1], blocks[0] * blocks[1])
    check_memory(sizes, "unfold")
    return record_linear(Im2ColBackward0, (*windows, *own[len(own) - 2:]), x,
                         moved(x.array, sizes, own[len(own) - 2:], windows, False))


@op(namespace="nn.functional", linear=Col2ImBackward0, batch=folded_batch)
def fold(input, output_size: _Dims, kernel_size: _Dims, dilation: _Dims = 1, padding: _Dims = 0, stride: _Dims = 1):
    """fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1) -> Tensor: columns summed into images.

    The transpose of unfold(): overlapping windows are summed. `input` is (batch, channels * kernel elements, windows) or one
    sample without batch, `output_size` the images' height and width. RuntimeError for sizes that don't fit.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.fold(ag.ones(4, 2), (2, 3), 2)
    tensor([[[1., 2., 1.],
             [1., 2., 1.]]])
    """
    cdef Tensor x = tensor_argument(input, "fold", "input", 1)
    cdef tuple picture = pair(output_size, "fold", "output_size", 2)
    cdef tuple windows = windows_of("fold", 3, kernel_size, dilation, padding, stride), own = shape_of(x), sizes
    check_columns(own, picture, windows)
    check_type(x, "col2im_out_cpu")
    sizes = (*own[:len(own) - 2], own[len(own) - 2] // (windows[0][0] * windows[0][1]), *picture)
    check_memory(sizes, "fold")
    return record_linear(Col2ImBackward0, (picture, *windows), x, moved(x.array, sizes, picture, windows, True))


cdef int check_columns(tuple own, tuple picture, tuple windows) except -1:
    cdef tuple kernel = windows[0], blocks
    if len(own) not in (2, 3) or 0 in own[len(own) - 2:]:
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                           f"dimensions for input, but got: {list(own)}")
    if own[len(own) - 2] % (kernel[0] * kernel[1]):
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
                           f"input.size(1)={own[len(own) - 2]} and kernel_size={kernel}.")
    blocks = blocks_of(picture, windows)
    if blocks[0] * blocks[1] != own[len(own) - 1] or min(blocks) < 1 or min(picture) < 1:
        raise RuntimeError(f"Given output_size={picture}, kernel_size={kernel}, dilation={windows[1]}, padding={windows[2]}, "
                           f"stride={windows[3]}, expected size of input's dimension 2 to match the calculated number of "
                           f"sliding blocks {blocks[0]} * {blocks[1]} = {blocks[0] * blocks[1]}, but got "
                           f"input.size(2)={own[len(own) - 1]}.")
    return 0
