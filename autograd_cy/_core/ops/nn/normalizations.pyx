"""Normalizations of nn.functional: its order of arguments, and its checks."""

from math import prod

from autograd_cy._core.arrays.dtypes cimport INT64, code_of
from autograd_cy._core.batching.batched cimport values_of
from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.nn.losses cimport check_real
from autograd_cy._core.ops.reductions.sums cimport values_fit
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.nn.norms import (
    batch_norm as norm_of_channels, group_norm as norm_of_groups, instance_norm as norm_of_instances,
    rms_norm as norm_of_squares)
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat

cnp.import_array()


cdef int need_several(object sizes, object n, str what) except -1:
    """Refuse a single value, which has no variance."""
    if n == 1:
        raise ValueError(f"Expected more than 1 {what} when training, got input size torch.Size({list(sizes)})")
    return 0


@op(namespace="nn.functional", batch=COMPOSITE)
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5) -> Tensor

    (input - mean) / sqrt(variance + eps) * weight + bias for each channel of an input (N, C, ...). With `training`, mean and
    (biased) variance are the input's, and running statistics, if any, move in place towards the mean and the unbiased
    variance, by the factor `momentum`; without, the running statistics are used. RuntimeError for sizes that don't fit.
    Source: Ioffe, Szegedy, "Batch normalization" (2015).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.batch_norm(ag.tensor([[1.0], [3.0]]), None, None, training=True, eps=0.0)
    tensor([[-1.],
            [ 1.]])
    """
    cdef tuple sizes = shape_of(tensor_argument(input, "batch_norm", "input", 1))
    if training and len(sizes) > 1:
        need_several(sizes, sizes[0] * prod(sizes[2:]), "value per channel")
    return norm_of_channels(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


@op(namespace="nn.functional", batch=COMPOSITE)
def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    """instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True) -> Tensor

    batch_norm() within each sample; momentum=0.1, eps=1e-5. Running averages move towards the mean over samples.
    Source: Ulyanov, Vedaldi, Lempitsky, "Instance normalization" (2016).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.instance_norm(ag.tensor([[[1.0, 3.0]], [[0.0, 8.0]]]), eps=0.0)
    tensor([[[-1.,  1.]],
    <BLANKLINE>
            [[-1.,  1.]]])
    """
    cdef tuple sizes = shape_of(tensor_argument(input, "instance_norm", "input", 1))
    if use_input_stats:
        need_several(sizes, prod(sizes[2:]), "spatial element")
    return norm_of_instances(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


@op(namespace="nn.functional", batch=COMPOSITE)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """group_norm(input, num_groups, weight=None, bias=None, eps=1e-5) -> Tensor: normalization of groups of channels.

    In each sample of an input (N, C, ...), every group of C / num_groups channels gets mean 0 and variance 1, then the
    channel's weight and bias. RuntimeError for sizes that don't fit.
    Source: Wu, He, "Group normalization" (2018).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.group_norm(ag.tensor([[1.0, 3.0, 0.0, 10.0]]), 2, ag.tensor([1.0, 1.0, 2.0, 2.0]))
    tensor([[-1.0000,  1.0000, -2.0000,  2.0000]])
    """
    cdef tuple sizes = shape_of(tensor_argument(input, "group_norm", "input", 1))
    if len(sizes) > 1 and num_groups > 0:
        need_several([sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:]],
                     sizes[0] * sizes[1] // num_groups * prod(sizes[2:]), "value per channel")
    return norm_of_groups(input, num_groups, weight, bias, eps, False)


@op(namespace="nn.functional", batch=COMPOSITE)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """rms_norm(input, normalized_shape, weight=None, eps=None) -> Tensor: autograd_cy.rms_norm().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.rms_norm(ag.tensor([1.0, 7.0]), (2,))
    tensor([0.2000, 1.4000])
    """
    return norm_of_squares(input, normalized_shape, weight, eps)


@op(namespace="nn.functional", batch=COMPOSITE)
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0) -> Tensor: channels inhibit their neighbours.

    input / (k + alpha * m) ** beta, where m is the mean of the squares of `size` neighbouring channels; channels outside
    count 0. The input is (N, C, ...); ValueError unless it has at least 3 dimensions.
    Source: Krizhevsky, Sutskever, Hinton, "ImageNet classification with deep convolutional neural networks" (2012).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.local_response_norm(ag.tensor([[[1.0], [2.0]]]), 2, alpha=2.0, beta=1.0)
    tensor([[[0.5000],
             [0.3333]]])
    """
    cdef tuple sizes = shape_of(tensor_argument(input, "local_response_norm", "input", 1))
    if len(sizes) < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {len(sizes)} dimensions)")
    if code_of((<Tensor> input).array) != INT64:
        check_real(input, "avg_pool2d")
    if size < 1:
        raise RuntimeError(f"local_response_norm(): size is a number of channels, at least 1, not {size}")
    if not (<Tensor> input).array.size:
        return input
    squares = input.mul(input)
    below, above = [squares.new_zeros((sizes[0], n, *sizes[2:])) for n in (size // 2, (size - 1) // 2)]
    sums = cat((below, squares, above), 1).unfold(1, size, 1).sum(-1)
    means = sums / size if sums.is_floating_point() else sums // size
    base = means * alpha + k
    if values_fit(values_of(<Tensor> base).array):          # powers of these, and their derivatives
        return input / base ** beta
    windows = cat((below, input, above), 1).unfold(1, size, 1)
    ends = windows.detach().abs().amax(-1).clamp_min(1)
    means = (windows / ends.unsqueeze(-1)).pow(2).sum(-1) / size
    return input / ends**beta / ends**beta / (means * alpha + k / ends / ends) ** beta
