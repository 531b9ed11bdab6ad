"""The inverse of max pooling: elements at their former places, among zeros."""

cimport cython

from autograd_cy._core.arrays.buffers cimport has_channels_last
from autograd_cy._core.arrays.dtypes cimport FLOAT16, FLOAT64, INT64, code_of, type_word
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.channel_windows cimport moved_by_channels
from autograd_cy._core.kernels.window_loops cimport PUT, TAKEN, moved
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op


cdef class Unpooling(Node):
    """Its constants: the number of dimensions of a plane, the sizes of the result."""

    cdef tuple saved_names(self):
        return ("indices", None, None)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef cnp.ndarray places = saved_array(self, 0)
        return moved(<cnp.ndarray> g, places, (<object> places).shape, self.constants[0], TAKEN)

    cdef object vjp(self, object g, int i):
        places = unpack(self, 0)
        return g.flatten(-self.constants[0]).gather(-1, places.flatten(-self.constants[0])).reshape(places.shape)

    cdef object jvp(self, tuple tangents):
        cdef tuple sizes = self.constants[1], outer = sizes[:len(sizes) - <int> self.constants[0]]
        cdef Py_ssize_t size = 1
        for n in sizes[len(outer):]:
            size *= n
        places, t = [x.flatten(-self.constants[0]) for x in (unpack(self, 0), tangents[0])]
        return zeros_as(tangents[0], outer + (size,)).scatter(-1, places, t).reshape(sizes)


@cython.final
cdef class MaxUnpool2DBackward0(Unpooling):
    pass


@cython.final
cdef class MaxUnpool3DBackward0(Unpooling):
    pass


cdef int check_places(Tensor indices, tuple sizes) except -1:
    cdef object size = 1
    for n in sizes:
        size *= n
    if cnp.PyArray_SIZE(indices.array) and not (indices.array.min() >= 0 and indices.array.max() < size):
        wrong = indices.array[(indices.array < 0) | (indices.array >= size)][0]
        raise RuntimeError(f"Found an invalid max index: {wrong} (output volumes are of size {'x'.join(map(str, sizes))})")
    return 0


cdef object unpooled(object input, object indices, int dims, tuple sizes):
    """max_unpool2d or max_unpool3d to planes of those sizes."""
    cdef str operation = f"max_unpool{dims}d"
    cdef Tensor x = tensor_argument(input, operation, "input", 1), places = tensor_argument(indices, operation, "indices", 2)
    cdef int own = code_of(x.array)
    if code_of(places.array) != INT64:
        found = f" but got: {type_word(code_of(places.array))}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{found}")
    check_planes(x, dims, f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor "
                          f"with "
                          f"{cnp.PyArray_NDIM(x.array)} dimensions.")
    if shape_of(x) != shape_of(places):
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({listed(shape_of(x))}) but got "
                           f"indices tensor with shape: {listed(shape_of(places))}")
    check_not_empty(x, f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for non-batch "
                       f"dimensions, "
                       "but got {} with dimension {} being empty.")
    if not FLOAT16 <= own <= FLOAT64:
        raise NotImplementedError(f"\"{operation}\" not implemented for '{type_word(own)}'")
    cdef tuple outer = shape_of(x)[:cnp.PyArray_NDIM(x.array) - dims]
    check_output_sizes(outer + sizes)
    check_places(places, sizes)
    cdef Tensor y
    if dims == 2 and has_channels_last(x.array):
        y = new_tensor(moved_by_channels(x.array, places.array, outer + sizes, PUT))
    else:
        y = new_tensor(moved(x.array, places.array, outer + sizes, dims, PUT))
    if not needs_node(x):
        return y
    cdef Node node = new_node(MaxUnpool2DBackward0 if dims == 2 else MaxUnpool3DBackward0, (dims, outer + sizes))
    save_input(node, 0, places)
    return record(node, y, x)


cdef tuple unpooled_sizes(tuple own, object kernel_size, object stride, object padding, object output_size, int dims):
    """The sizes before pooling to `own`, or the requested sizes near them."""
    cdef str operation = f"max_unpool{dims}d"
    cdef list numbers = []
    stride = kernel_size if stride is None else stride
    for name, value in (("kernel_size", kernel_size), ("stride", stride), ("padding", padding)):
        along = ints_argument(value, operation, name, 3)
        if len(along) not in (1, dims):
            raise RuntimeError(f"{operation}(): expected {name} to be one int or {dims}, got {len(along)}")
        numbers.append(along * dims if len(along) == 1 else along)
    if dims == 3 and min(numbers[1]) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(numbers[1])}")
    cdef tuple usual = tuple([(n - 1) * step + kernel - 2 * padded for n, kernel, step, padded in zip(own, *numbers)])
    cdef tuple sizes = usual if output_size is None else checked_size(output_size, usual, numbers[1], operation)
    for axis, size in enumerate(sizes):
        if size < 0:
            raise ValueError("max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size"
                             f"[{axis}]={size}")
    return sizes


cdef tuple checked_size(object output_size, tuple usual, tuple stride, str operation):
    cdef tuple sizes = ints_argument(output_size, operation, "output_size", 6)
    if len(sizes) == len(usual) + 2:
        sizes = sizes[2:]
    if len(sizes) != len(usual):
        raise ValueError(f"output_size should be a sequence containing {len(usual)} or {len(usual) + 2} elements, but it has "
                         f"a "
                         f"length of '{len(sizes)}'")
    for axis, (size, n, step) in enumerate(zip(sizes, usual, stride)):
        if not n - step < size < n + step:
            raise ValueError(f"invalid output_size \"{output_size}\" (dim {axis} must be between {n - step} and {n + step})")
    return sizes


class UnpoolingRule:
    """UnpoolingRule(dims): the batching rule of elements and indices of planes."""

    def __init__(self, dims):
        self.dims = dims

    def __call__(self, call, input, indices, *args, **kwargs):
        """The operation on all samples."""
        rank, x, places = rank_of(input), call.front(input), call.front(indices)
        if rank == self.dims + 1:
            return call(x, places, *args, **kwargs)
        if rank != self.dims + 2:
            call.on_sample(input, indices, *args)
        return apart(call(x.flatten(0, 1), places.flatten(0, 1), *args, **kwargs), call.size, x.shape[1])


@op(namespace="nn.functional", batch=UnpoolingRule(1))
def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor: the elements of an input
    (N, C, L) or (C, L) put where max_pool1d() found them, by its indices; the others are 0.

    RuntimeError for an index out of range, ValueError for a size that doesn't match the pooling.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_unpool1d(ag.tensor([[5.0]]), ag.tensor([[1]]), 2)
    tensor([[0., 5.]])
    """
    cdef Tensor x = tensor_argument(input, "max_unpool1d", "input", 1)
    cdef Tensor places = tensor_argument(indices, "max_unpool1d", "indices", 2)
    if cnp.PyArray_NDIM(x.array) not in (2, 3):
        raise RuntimeError(f"Input to max_unpooling2d should be a 3d or 4d Tensor, but got a tensor with "
                           f"{cnp.PyArray_NDIM(x.array) + 1} dimensions.")
    sizes = unpooled_sizes(shape_of(x)[-1:], kernel_size, stride, padding, output_size, 1)
    return unpooled(input.unsqueeze(-1), (<object> places).unsqueeze(-1), 2, sizes + (1,)).squeeze(-1)


@op(namespace="nn.functional", batch=UnpoolingRule(2))
def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor: the elements of planes
    (N, C, H, W) or (C, H, W) put where max_pool2d() found them, by its indices; the others are 0. See max_unpool1d().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_unpool2d(ag.tensor([[[5.0]]]), ag.tensor([[[2]]]), 2)
    tensor([[[0., 0.],
             [5., 0.]]])
    """
    cdef Tensor x = tensor_argument(input, "max_unpool2d", "input", 1)
    return unpooled(input, indices, 2, unpooled_sizes(shape_of(x)[-2:], kernel_size, stride, padding, output_size, 2))


@op(namespace="nn.functional", batch=UnpoolingRule(3))
def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor: the same for an input
    (N, C, D, H, W) or (C, D, H, W); see max_unpool1d().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.max_unpool3d(ag.tensor([[[[5.0]]]]), ag.tensor([[[[1]]]]), (1, 1, 2))
    tensor([[[[0., 5.]]]])
    """
    cdef Tensor x = tensor_argument(input, "max_unpool3d", "input", 1)
    return unpooled(input, indices, 3, unpooled_sizes(shape_of(x)[-3:], kernel_size, stride, padding, output_size, 3))
