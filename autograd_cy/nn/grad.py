"""Gradients of convolutions by their input or weight, without the convolution's graph (facade). Imported on first use."""

from collections.abc import Callable, Sequence
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from ..autograd.grad_mode import enable_grad
from ..autograd.gradients import grad
from .functional import conv1d, conv2d, conv3d

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _of_input(convolution: Callable[..., Tensor], size: Sequence[int], weight: Tensor, g: Tensor, options: Any) -> Tensor:
    with enable_grad():
        leaf = weight.new_zeros(tuple(size)).requires_grad_()
        return _gradient(convolution(leaf, weight, None, *options), leaf, g, weight)


def _of_weight(convolution: Callable[..., Tensor], input: Tensor, size: Sequence[int], g: Tensor, options: Any) -> Tensor:
    with enable_grad():
        leaf = input.new_zeros(tuple(size)).requires_grad_()
        return _gradient(convolution(input, leaf, None, *options), leaf, g, input)


def _gradient(y: Tensor, leaf: Tensor, g: Tensor, other: Tensor) -> Tensor:
    return grad(y, leaf, g, create_graph=g.requires_grad or other.requires_grad)[0]


@_public
def conv1d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """``conv1d_input(input_size, weight, grad_output)`` is the gradient of conv1d() by an input of that size.

    >>> import autograd_cy as ag
    >>> ag.nn.grad.conv1d_input((1, 1, 3), ag.tensor([[[1.0, 2.0]]]), ag.ones(1, 1, 2))
    tensor([[[1., 3., 2.]]])
    """
    return _of_input(conv1d, input_size, weight, grad_output, (stride, padding, dilation, groups))


@_public
def conv1d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """``conv1d_weight(input, weight_size, grad_output)`` is the gradient of conv1d() by a weight of that size.

    >>> import autograd_cy as ag
    >>> ag.nn.grad.conv1d_weight(ag.tensor([[[1.0, 2.0, 3.0]]]), (1, 1, 2), ag.ones(1, 1, 2))
    tensor([[[3., 5.]]])
    """
    return _of_weight(conv1d, input, weight_size, grad_output, (stride, padding, dilation, groups))


@_public
def conv2d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """``conv2d_input(input_size, weight, grad_output)`` is the gradient of conv2d() by an input of that size.

    >>> import autograd_cy as ag
    >>> ag.nn.grad.conv2d_input((1, 1, 1, 3), ag.tensor([[[[1.0, 2.0]]]]), ag.ones(1, 1, 1, 2))
    tensor([[[[1., 3., 2.]]]])
    """
    return _of_input(conv2d, input_size, weight, grad_output, (stride, padding, dilation, groups))


@_public
def conv2d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """``conv2d_weight(input, weight_size, grad_output)`` is the gradient of conv2d() by a weight of that size.

    >>> import autograd_cy as ag
    >>> ag.nn.grad.conv2d_weight(ag.tensor([[[[1.0, 2.0, 3.0]]]]), (1, 1, 1, 2), ag.ones(1, 1, 1, 2))
    tensor([[[[3., 5.]]]])
    """
    return _of_weight(conv2d, input, weight_size, grad_output, (stride, padding, dilation, groups))


@_public
def conv3d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """``conv3d_input(input_size, weight, grad_output)`` is the gradient of conv3d() by an input of that size.

    >>> import autograd_cy as ag
    >>> ag.nn.grad.conv3d_input((1, 1, 1, 1, 3), ag.tensor([[[[[1.0, 2.0]]]]]), ag.ones(1, 1, 1, 1, 2))
    tensor([[[[[1., 3., 2.]]]]])
    """
    return _of_input(conv3d, input_size, weight, grad_output, (stride, padding, dilation, groups))


@_public
def conv3d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """``conv3d_weight(input, weight_size, grad_output)`` is the gradient of conv3d() by a weight of that size.

    >>> import autograd_cy as ag
    >>> ag.nn.grad.conv3d_weight(ag.tensor([[[[[1.0, 2.0, 3.0]]]]]), (1, 1, 1, 1, 2), ag.ones(1, 1, 1, 1, 2))
    tensor([[[[[3., 5.]]]]])
    """
    return _of_weight(conv3d, input, weight_size, grad_output, (stride, padding, dilation, groups))
