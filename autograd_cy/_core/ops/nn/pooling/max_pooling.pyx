"""Max pooling: nodes of all kinds, and windows with a stride."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport (
    channels_at_end, flat, has_channels_last, in_c_order, in_format, in_type_and_order)
from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, FLOAT32, INT64, LONGDOUBLE, code_of, type_word
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.channel_windows cimport channel_maxima, counts_places, moved_by_channels
from autograd_cy._core.kernels.window_loops cimport ADDED, moved, window_maxima, windows_of
from autograd_cy._core.ops.nn.convolution cimport in_format_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


cdef long long LARGEST = 1 << 31


# nodes

cdef class WindowMaxima(Node):
    """The gradient goes to the places of the maxima. The constants end with the sizes of the input."""

    cdef int dims(self) noexcept:
        """The number of dimensions of a plane."""
        return 2

    cdef tuple saved_names(self):
        return ("self", "result1", None)

    cdef int is_channels_last(self) except -1:
        """Whether the gradient has channels last. A changed input is an error, as in PyTorch, though it isn't read."""
        cdef cnp.ndarray x = saved_array(self, 0)
        return self.keeps_format() and cnp.PyArray_NDIM(x) == self.dims() + 2 and has_channels_last(x)

    cdef bint keeps_format(self) noexcept:
        return False

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef tuple sizes = (<tuple> self.constants)[-1]
        if self.is_channels_last():
            return moved_by_channels(<cnp.ndarray> g, saved_array(self, 1), sizes, ADDED)
        return moved(<cnp.ndarray> g, saved_array(self, 1), sizes, self.dims(), ADDED)

    cdef object vjp(self, object g, int i):
        cdef tuple sizes = (<tuple> self.constants)[-1], outer = sizes[:len(sizes) - self.dims()]
        places = unpack(self, 1).flatten(-self.dims())
        cdef Py_ssize_t size = 1
        for n in sizes[len(outer):]:
            size *= n
        found = zeros_as(g, outer + (size,)).scatter_add(-1, places, g.flatten(-self.dims())).reshape(sizes)
        return in_format_of(found, self.is_channels_last())

    cdef object jvp(self, tuple tangents):
        places = unpack(self, 1)
        return tangents[0].flatten(-self.dims()).gather(-1, places.flatten(-self.dims())).reshape(places.shape)


cdef class StridedMaxima(WindowMaxima):
    cdef bint keeps_format(self) noexcept:
        return True

    cdef tuple constant_names(self):
        return ("kernel_size", "stride", "padding", "dilation", "ceil_mode")


@cython.final
cdef class MaxPool2DWithIndicesBackward0(StridedMaxima):
    pass


@cython.final
cdef class MaxPool3DWithIndicesBackward0(StridedMaxima):
    cdef int dims(self) noexcept:
        return 3


@cython.final
cdef class AdaptiveMaxPool2DBackward0(WindowMaxima):
    cdef bint keeps_format(self) noexcept:
        return True


@cython.final
cdef class AdaptiveMaxPool3DBackward0(WindowMaxima):
    cdef int dims(self) noexcept:
        return 3


cdef bint is_volume_of_channels(cnp.ndarray array) except -1:
    """Whether a volume without a batch is dense with channels last, and not in C order."""
    return not cnp.PyArray_IS_C_CONTIGUOUS(array) and bool(array.transpose(1, 2, 3, 0).flags.c_contiguous)


cdef cnp.ndarray as_volume_of_channels(cnp.ndarray array):
    return np.ascontiguousarray(array.transpose(1, 2, 3, 0)).transpose(3, 0, 1, 2)


cdef tuple pooled(object node_class, Tensor x, tuple counts, tuple tables, tuple dilation, tuple constants, str kernel,
                  bint keeps=False):
    """(Maxima of the windows in the tables, their places).

    `kernel` is PyTorch's name of its loop; `keeps`: whether the results have channels last if the input has.
    """
    cdef int own = code_of(x.array), wide = max(own, <int> FLOAT32) if own >= FLOAT16 else INT64, dims = len(counts)
    cdef tuple sizes = shape_of(x)
    if own == BOOL or own >= LONGDOUBLE:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(own)}'")
    cdef bint channels_last = keeps and cnp.PyArray_NDIM(x.array) == dims + 2 and has_channels_last(x.array)
    cdef bint is_one_volume = keeps and dims == 3 and cnp.PyArray_NDIM(x.array) == 4 and is_volume_of_channels(x.array)
    if channels_last and counts_places(x.array):
        array, places = channel_maxima(flat(channels_at_end(x.array), wide), tables, dilation)
    else:
        array = in_c_order(x.array, wide) if channels_last else flat(x.array, wide)
        array, places = window_maxima(array, sizes[:len(sizes) - dims] + counts, tables, dilation)
        array, places = in_format(array, channels_last), in_format(places, channels_last)
    if is_one_volume:
        array, places = as_volume_of_channels(array), as_volume_of_channels(places)
    cdef Tensor y = new_tensor(in_type_and_order(array, own)), indices = new_tensor(places)
    if not needs_node(x):
        return y, indices
    cdef Node node = new_node(node_class, constants + (sizes,))
    save_input(node, 0, x)
    save_input(node, 1, indices)
    return record(node, y, x), indices


# windows with a stride

cdef tuple maxima_of_windows(object input, int dims, Pooling windows):
    """max_pool2d or max_pool3d with indices."""
    cdef Tensor x = input
    if dims == 2:
        check_not_empty(x, "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{}")
        if cnp.PyArray_NDIM(x.array) == 3 and shape_of(x)[0] == 0:
            raise RuntimeError("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                               f"{listed(shape_of(x))}")
    else:
        check_not_empty(x, "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have "
                           "positive "
                           "length, but input has a shape of {0} and non-batch dimension {1} has length zero!")
    cdef tuple counts = windows.counts(x)
    cdef tuple own = shape_of(x)[-dims:]
    tables = tuple([windows_of(n, count, kernel, stride, padding, dilation) for n, count, kernel, stride, padding, dilation
                    in zip(own, counts, windows.kernel, windows.stride, windows.padding, windows.dilation)])
    constants = (windows.kernel, windows.given_stride, windows.padding, windows.dilation, windows.ceil_mode)
    return pooled(MaxPool2DWithIndicesBackward0 if dims == 2 else MaxPool3DWithIndicesBackward0, x, counts, tables,
                  windows.dilation, constants, f"max_pool{dims}d", True)


cdef tuple max_pooled(object input, int dims, object kernel_size, object stride, object padding, object dilation,
                      object ceil_mode):
    cdef str operation = f"max_pool{dims}d"
    cdef Tensor x = tensor_argument(input, operation, "input", 1)
    check_planes(x, dims, f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    return maxima_of_windows(x, dims, Pooling(operation, dims, kernel_size, stride, padding, dilation, ceil_mode))


cdef long long one_number(object value, str name, str kinds) except? -1:
    if isinstance(value, (tuple, list)) and len(value) != 1:
        raise RuntimeError(f"max_pool1d() {name} must be {kinds} of size 1 but got size {len(value)}")
    return ints_argument(value, "max_pool1d", name, 2)[0]


cdef int check_row(Py_ssize_t size, object kernel_size, object stride, object padding, object dilation,
                   object ceil_mode) except -1:
    """PyTorch has other error texts for windows that don't fit if no places are requested."""
    cdef bint omitted = stride is None or (isinstance(stride, (tuple, list)) and not len(stride))
    cdef long long kernel = one_number(kernel_size, "kernel_size", "an int, list of ints or tuple of ints")
    cdef long long step = kernel if omitted else one_number(stride, "stride", "None, an int, list of ints, or tuple of ints")
    cdef long long pad = one_number(padding, "padding", "an int, list of ints, or tuple of ints")
    cdef long long spread = one_number(dilation, "dilation", "an int, list of ints or tuple of ints")
    cdef npy_intp count
    for name, number in (("kernel_size", kernel), ("stride", step)):
        if number <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {number}")
    if pad < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {pad}")
    if pad > kernel // 2:
        raise RuntimeError("max_pool1d() padding should be at most half of kernel size, but got "
                           f"padding={pad} and kernel_size={kernel}")
    if spread <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {spread}")
    if max(kernel, step, pad, spread) < LARGEST:            # larger ones are refused by Pooling
        count = count_of(size, kernel, step, pad, spread, ceil_mode)
        if count <= 0:
            raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    return 0


cdef tuple max_pooled_1d(object input, object kernel_size, object stride, object padding, object dilation, object ceil_mode,
                         bint with_places):
    """As planes of one row, like PyTorch."""
    cdef Tensor x = tensor_argument(input, "max_pool1d", "input", 1)
    cdef tuple own = shape_of(x)
    if len(own) not in (2, 3) or 0 in own[len(own) - 2:]:
        raise RuntimeError("max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
                           f"got:{listed(own)}")
    if not with_places:
        check_row(own[len(own) - 1], kernel_size, stride, padding, dilation, ceil_mode)
    cdef Pooling along = Pooling("max_pool1d", 1, kernel_size, stride, padding, dilation, ceil_mode)
    along.operation = "max_pool2d"
    cdef Pooling windows = Pooling("max_pool2d", 2, (1, *along.kernel), (1, *along.stride), (0, *along.padding),
                                   (1, *along.dilation), ceil_mode)
    y, indices = maxima_of_windows(input.unsqueeze(-2), 2, windows)
    return y.squeeze(-2), indices.squeeze(-2)


cdef object chosen(tuple results, object return_indices):
    """Both, or only the values."""
    return results if return_indices else results[0]


@op(name="max_pool1d", namespace="nn.functional", batch=PlanesRule(1))
def functional_max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) -> Tensor: the
    largest element of each window along the last dimension of an input (N, C, L) or (C, L).

    The stride is the kernel's size by default; padding is -inf. With return_indices, a tuple of the values and their places.
    RuntimeError for windows that don't fit.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_pool1d(ag.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    return chosen(max_pooled_1d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices), return_indices)


@op(name="max_pool2d", namespace="nn.functional", batch=PlanesRule(2))
def functional_max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) -> Tensor: the
    largest element of each window of planes (N, C, H, W) or (C, H, W).

    Sizes of windows are one number, or one for each dimension; the stride is the kernel's size by default, padding is -inf.
    With return_indices, a tuple of the values and their places within planes. RuntimeError for windows that don't fit.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_pool2d(ag.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2, return_indices=True)
    (tensor([[[3.]]]), tensor([[[1]]]))
    """
    return chosen(max_pooled(input, 2, kernel_size, stride, padding, dilation, ceil_mode), return_indices)


@op(name="max_pool3d", namespace="nn.functional", batch=PlanesRule(3))
def functional_max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) -> Tensor: the
    largest element of each window of an input (N, C, D, H, W) or (C, D, H, W); see max_pool2d().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_pool3d(ag.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    return chosen(max_pooled(input, 3, kernel_size, stride, padding, dilation, ceil_mode), return_indices)


@op(namespace="nn.functional", name="max_pool1d_with_indices", batch=COMPOSITE)
def functional_max_pool1d_with_indices(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False) -> (Tensor, Tensor):
    max_pool1d() and the places of its results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_pool1d_with_indices(ag.tensor([[1.0, 3.0]]), 2)
    (tensor([[3.]]), tensor([[1]]))
    """
    return functional_max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


@op(namespace="nn.functional", batch=COMPOSITE)
def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False) -> (Tensor, Tensor):
    max_pool2d() and the places of its results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_pool2d_with_indices(ag.tensor([[[1.0, 3.0]]]), (1, 2))
    (tensor([[[3.]]]), tensor([[[1]]]))
    """
    return functional_max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


@op(namespace="nn.functional", batch=COMPOSITE)
def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False) -> (Tensor, Tensor):
    max_pool3d() and the places of its results. `return_indices` is of no effect, as in PyTorch.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_pool3d_with_indices(ag.tensor([[[[1.0, 3.0]]]]), (1, 1, 2))
    (tensor([[[[3.]]]]), tensor([[[[1]]]]))
    """
    return functional_max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


# of the package itself

@op(batch=COMPOSITE)
def max_pool1d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """max_pool1d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False) -> Tensor: the largest element of each
    window along the last dimension of an input (N, C, L) or (C, L).

    >>> import autograd_cy as ag
    >>> ag.max_pool1d(ag.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    return functional_max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


@op(batch=COMPOSITE)
def max_pool1d_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """max_pool1d_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False) -> (Tensor, Tensor):
    max_pool1d() and the places of its results.

    >>> import autograd_cy as ag
    >>> ag.max_pool1d_with_indices(ag.tensor([[1.0, 3.0]]), 2)
    (tensor([[3.]]), tensor([[1]]))
    """
    return functional_max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


@op(batch=COMPOSITE)
def max_pool2d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """max_pool2d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False) -> Tensor: the largest element of each
    window of planes (N, C, H, W) or (C, H, W).

    >>> import autograd_cy as ag
    >>> ag.max_pool2d(ag.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2)
    tensor([[[3.]]])
    """
    return functional_max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


@op(batch=COMPOSITE)
def max_pool3d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """max_pool3d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False) -> Tensor: the largest element of each
    window of an input (N, C, D, H, W) or (C, D, H, W).

    >>> import autograd_cy as ag
    >>> ag.max_pool3d(ag.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    return functional_max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)
