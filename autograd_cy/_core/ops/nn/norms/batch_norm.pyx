"""batch_norm and instance_norm: normalization of channels."""

cimport cython

from autograd_cy._core.arrays.buffers cimport cast, channels_at_end, channels_second, flat, has_channels_last, in_type
from autograd_cy._core.arrays.dtypes cimport FLOAT64, code_of, kernel_code
from autograd_cy._core.graph.record cimport any_wanted, has_tangent, new_node, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.norm_loops cimport find_scales, move_averages
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.ops.overwriting cimport write
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NO_GRAD, current_mode

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


@cython.final
cdef class NativeBatchNormBackward0(ChannelNorm):
    """The constants: the running mean and variance, for inspection; the gradient doesn't read them."""

    cdef tuple constant_names(self):
        return ("running_mean", "running_var")

    @property
    def _saved_training(self):
        return self.corrected

    cdef object by_statistics(self, object x):
        return x

    cdef tuple dims(self):
        return (0,) + tuple(range(2, cnp.PyArray_NDIM((<Tensor> self.saved0).array)))

    cdef object statistics_like(self, cnp.ndarray numbers):
        return new_tensor(numbers).reshape(-1, *(1,) * (len(self.dims()) - 1))


# running statistics

cdef int refuse_gradient(Tensor x, str name) except -1:
    if x is not None and ((x.needs_grad and not current_mode() & NO_GRAD) or has_tangent(x)):
        raise RuntimeError(f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. "
                           "This input cannot have requires_grad True.")
    return 0


cdef int move(Tensor average, cnp.ndarray now, double momentum) except -1:
    """Move a running average in place towards the current statistics."""
    cdef int dtype_code = kernel_code(average.array)
    cdef cnp.ndarray before = flat(average.array, dtype_code), after = vector(dtype_code, cnp.PyArray_SIZE(now))
    move_averages(dtype_code, data_of(before), <double *> data_of(now), cnp.PyArray_SIZE(now), momentum, data_of(after))
    return write(average, in_type(after, code_of(average.array)), None, "batch_norm")


# the operation

def batched_batch_norm(call, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Fold the samples into the channels."""
    cdef int rank = rank_of(input)
    if rank == 1 and not input.shape[0]:
        return call.value(input).clone()
    for name, x in (("running_mean", running_mean), ("running_var", running_var)):
        if training and x is not None and not call.is_batched(x):
            raise RuntimeError(f"Batch norm got a batched tensor as input while the {name}, which will be updated in place, "
                               f"was not batched.\\nPlease modify it to have a batch for each sample, or to track none.")
    if rank < 2 or any([x is not None and rank_of(x) != 1 for x in (weight, bias, running_mean, running_var)]):
        call.on_sample(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)
    vectors = [x if x is None else call.front(x).reshape(-1) for x in (weight, bias, running_mean, running_var)]
    x = call.front(input).transpose(0, 1)
    sizes = tuple(x.shape)
    y = call(x.reshape(sizes[0], sizes[1] * sizes[2], *sizes[3:]), *vectors, training, momentum, eps, cudnn_enabled)
    return y.reshape(sizes).transpose(0, 1)


@op(batch=batched_batch_norm)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled) -> Tensor

    nn.functional.batch_norm() with its arguments in another order; `cudnn_enabled` changes nothing on the CPU.

    >>> import autograd_cy as ag
    >>> ag.batch_norm(ag.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0, False)
    tensor([[-1.],
            [ 1.]])
    """
    cdef Tensor x = tensor_argument(input, "batch_norm", "input", 1)
    cdef Tensor w = None if weight is None else tensor_argument(weight, "batch_norm", "weight", 2)
    cdef Tensor b = None if bias is None else tensor_argument(bias, "batch_norm", "bias", 3)
    cdef Tensor mean = None if running_mean is None else tensor_argument(running_mean, "batch_norm", "running_mean", 4)
    cdef Tensor var = None if running_var is None else tensor_argument(running_var, "batch_norm", "running_var", 5)
    if cnp.PyArray_NDIM(x.array) == 1 and not cnp.PyArray_SIZE(x.array):
        return input.clone()
    cdef Planes planes = planes_of(x.array)
    cdef double part = momentum, number = eps
    cdef int dtype_code
    if not training and (mean is None or var is None):
        raise RuntimeError(f"{'running_mean' if mean is None else 'running_var'} must be defined in evaluation mode")
    check_channels(planes, (mean, var, w, b), "running_mean running_var weight bias")
    check_types(x, w, b, "batch_norm", "batch_norm")
    refuse_gradient(mean, "running_mean")
    refuse_gradient(var, "running_var")
    dtype_code = kernel_code(x.array)
    if has_channels_last(x.array):
        planes = Planes(planes.count * planes.size, 1, planes.channels, 1, planes.channels)
        array = flat(channels_at_end(x.array), dtype_code)
    else:
        array = flat(x.array, dtype_code)
    means, scales = vector(dtype_code, planes.channels), vector(dtype_code, planes.channels)
    variances = None
    if training:
        variances = moments_of(array, &planes, number, means, scales)
        if not cnp.PyArray_SIZE(array):
            means[...], scales[...] = 0, 0      # an empty batch: its gradients are 0
    else:
        means[...] = mean.array
        known = flat(cast(var.array, dtype_code), dtype_code)
        find_scales(dtype_code, data_of(known), planes.channels, number, data_of(scales))
    y = finished(x, w, b, array, planes, means, scales, number, training, (running_mean, running_var))
    if training and cnp.PyArray_SIZE(x.array):
        if mean is not None:
            move(mean, cast(means, FLOAT64), part)
        if var is not None:
            n = cnp.PyArray_SIZE(x.array) // planes.channels
            move(var, variances * (<double> n / (n - 1) if n > 1 else float("nan")), part)
    return y


cdef Tensor finished(Tensor x, Tensor w, Tensor b, cnp.ndarray array, Planes planes, cnp.ndarray means, cnp.ndarray scales,
                     double eps, bint training, tuple running):
    """The result, recorded if needed."""
    cdef bint channels_last = has_channels_last(x.array)
    cdef cnp.ndarray y = in_type(normalized_planes(array, &planes, means, scales, w, b), code_of(x.array))
    cdef ChannelNorm node
    if channels_last:
        y = channels_second(y)
    if not any_wanted((x, w, b)):
        return new_tensor(y)
    node = new_node(NativeBatchNormBackward0, running)
    node.planes, node.means, node.scales, node.corrected, node.eps = planes, means, scales, training, eps
    node.channels_last = node.at_end = channels_last
    return record_norm(node, y, x, w, b)


@op(batch=COMPOSITE)
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled) -> Tensor

    nn.functional.instance_norm() with its arguments in another order; `cudnn_enabled` changes nothing on the CPU.

    >>> import autograd_cy as ag
    >>> ag.instance_norm(ag.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 0.0, False)
    tensor([[[-1.,  1.]]])
    """
    cdef tuple sizes = shape_of(tensor_argument(input, "instance_norm", "input", 1))
    if len(sizes) < 2:
        planes_of((<Tensor> input).array)           # raises with the reason
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    n, channels = sizes[:2]
    vectors = [x if x is None else x.repeat(n) for x in (weight, bias, running_mean, running_var)]
    y = batch_norm(input.contiguous().view(1, n * channels, *sizes[2:]), *vectors, use_input_stats, momentum, eps,
                   cudnn_enabled)
    for average, moved in ((running_mean, vectors[2]), (running_var, vectors[3])):
        if use_input_stats and average is not None:
            average.copy_(moved.view(n, channels).mean(0))
    return y.view(sizes)
