"""group_norm: normalization of groups of channels within each sample."""

cimport cython

from autograd_cy._core.arrays.buffers cimport flat, has_channels_last, in_format, in_type
from autograd_cy._core.arrays.dtypes cimport code_of, kernel_code
from autograd_cy._core.graph.record cimport any_wanted, new_node, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op


@cython.final
cdef class NativeGroupNormBackward0(ChannelNorm):
    """The constants: samples, channels, elements of a channel, groups."""

    cdef tuple constant_names(self):
        return ("N", "C", "HxW", "group")

    cdef object shown(self, cnp.ndarray numbers):
        return ChannelNorm.shown(self, numbers).reshape(self.constants[0], self.constants[3])

    cdef object by_statistics(self, object x):
        cdef tuple sizes = self.constants
        return x.reshape(sizes[0], sizes[3], sizes[1] // max(sizes[3], 1) * sizes[2])

    cdef tuple dims(self):
        return (2,)

    cdef object statistics_like(self, cnp.ndarray numbers):
        return new_tensor(numbers).reshape(self.constants[0], self.constants[3], 1)


cdef int check_groups(Tensor x, Tensor weight, Tensor bias, Py_ssize_t groups) except -1:
    cdef tuple sizes = shape_of(x)
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if len(sizes) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(sizes)}")
    if sizes[1] % groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{list(sizes)} and num_groups={groups}")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and shape_of(<Tensor> parameter) != sizes[1:2]:
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                               f"{name} of shape {list(shape_of(<Tensor> parameter))} and input of shape {list(sizes)}")
    return 0


def batched_group_norm(call, input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """Merge the samples into the batch; batched parameters are applied afterwards."""
    cdef int rank = rank_of(input)
    if rank < 2 or any([p is not None and tuple(p.shape) != tuple(input.shape)[1:2] for p in (weight, bias)]):
        call.on_sample(input, num_groups, weight, bias, eps, cudnn_enabled)             # raises with the reason
    x, differ = call.front(input), call.is_batched(weight) or call.is_batched(bias)
    sizes = tuple(x.shape)
    parameters = (None, None) if differ else (weight, bias)
    y = call(x.reshape(sizes[0] * sizes[1], *sizes[2:]), num_groups, *parameters, eps, cudnn_enabled).reshape(sizes)
    if differ and weight is not None:
        y = y * call.front(weight).reshape(sizes[0], 1, sizes[2], *(1,) * (rank - 2))
    if differ and bias is not None:
        y = y + call.front(bias).reshape(sizes[0], 1, sizes[2], *(1,) * (rank - 2))
    return y.to(input.dtype)


@op(batch=batched_group_norm)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True) -> Tensor

    nn.functional.group_norm(); `cudnn_enabled` changes nothing on the CPU.

    >>> import autograd_cy as ag
    >>> ag.group_norm(ag.tensor([[1.0, 3.0, 0.0, 10.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    cdef Tensor x = tensor_argument(input, "group_norm", "input", 1)
    cdef Tensor w = None if weight is None else tensor_argument(weight, "group_norm", "weight", 3)
    cdef Tensor b = None if bias is None else tensor_argument(bias, "group_norm", "bias", 4)
    cdef Py_ssize_t groups = num_groups
    cdef double number = eps
    cdef Planes planes, together
    cdef ChannelNorm node
    cdef bint channels_last
    check_groups(x, w, b, groups)
    check_types(x, w, b, "group_norm", "GroupNormKernelImpl")
    planes = planes_of(x.array)
    samples = cnp.PyArray_DIM(x.array, 0)
    planes.per, planes.groups = max(planes.channels // groups, 1), samples * groups
    together = Planes(planes.groups, planes.per * planes.size if planes.channels else 0, planes.groups, 1, planes.groups)
    dtype_code = kernel_code(x.array)
    array, means, scales = flat(x.array, dtype_code), vector(dtype_code, planes.groups), vector(dtype_code, planes.groups)
    moments_of(array, &together, number, means, scales)
    channels_last = has_channels_last(x.array)
    y = in_format(in_type(normalized_planes(array, &planes, means, scales, w, b), code_of(x.array)), channels_last)
    if not any_wanted((x, w, b)):
        return new_tensor(y)
    node = new_node(NativeGroupNormBackward0, (samples, planes.channels, planes.size, groups))
    node.planes, node.means, node.scales, node.corrected, node.eps = planes, means, scales, True, number
    node.channels_last = channels_last
    return record_norm(node, y, x, w, b)
