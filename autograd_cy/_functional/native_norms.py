"""Normalizations that return their means and scales, too (facade). Imported when asked for."""

from collections.abc import Sequence

from .._core.graph.tensor import Tensor
from .._core.ops.nn.norms import batch_norm, group_norm
from .._core.runtime.entry import public
from ..nn.functional import layer_norm


@public
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """``native_layer_norm(x, normalized_shape, weight, bias, eps)`` is what nn.functional.layer_norm() returns, the means
    that were subtracted, and the numbers by which it was multiplied, 1 / sqrt(variance + eps). These have no gradient.

    >>> import autograd_cy as ag
    >>> ag.native_layer_norm(ag.tensor([[1.0, 3.0]]), (2,), None, None, 0.0)
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    made = layer_norm(input, normalized_shape, weight, bias, eps)
    return made, *_mean_and_scale(input.detach(), tuple(range(-len(tuple(normalized_shape)), 0)), eps, keepdim=True)


@public
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """``native_group_norm(x, weight, bias, N, C, HxW, group, eps)`` is x, normalized for each sample and group of channels,
    the means that were subtracted, and the numbers by which it was multiplied.

    The input is (N, C, ...), with HxW numbers in each channel; weight and bias have one number for each channel.

    >>> import autograd_cy as ag
    >>> ag.native_group_norm(ag.tensor([[[1.0, 3.0]]]), None, None, 1, 1, 2, 1, 0.0)
    (tensor([[[-1.,  1.]]]), tensor([[2.]]), tensor([[1.]]))
    """
    made = group_norm(input.reshape(N, C, HxW), group, weight, bias, eps).reshape(input.shape)
    return made, *_mean_and_scale(input.reshape(N, group, C // group * HxW), (-1,), eps, keepdim=False)


@public
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """``native_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps)`` is what
    nn.functional.batch_norm() returns, the means that were subtracted, and the numbers by which it was multiplied; these
    two are empty where they are the running ones.

    >>> import autograd_cy as ag
    >>> ag.native_batch_norm(ag.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0)
    (tensor([[-1.],
            [ 1.]]), tensor([2.]), tensor([1.]))
    """
    made = batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)
    if not training:
        return made, input.new_empty((0,)), input.new_empty((0,))
    return made, *_mean_and_scale(input.detach(), (0, *range(2, input.ndim)), eps, keepdim=False)


def _mean_and_scale(x: Tensor, dims: tuple[int, ...], eps: float, keepdim: bool) -> tuple[Tensor, Tensor]:
    return x.mean(dims, keepdim), (x.var(dims, correction=0, keepdim=keepdim) + eps).rsqrt()
