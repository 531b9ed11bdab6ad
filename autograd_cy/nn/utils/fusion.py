"""Fusion of a batch normalization in eval mode into the layer before it (facade)."""

import copy
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ..._creation.filled import ones_like, zeros_like
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


@_public
def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """``fuse_conv_bn_eval(conv, bn, transpose=False)``: a convolution that computes the same as both in sequence.

    Both must be in eval mode, else AssertionError; transpose: for a transposed convolution.
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


@_public
def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """``fuse_conv_bn_weights(weight, bias, running_mean, running_var, eps, bn_weight, bn_bias)``: weight and bias for both.

    >>> import autograd_cy as ag
    >>> w, b = ag.nn.utils.fuse_conv_bn_weights(ag.ones(1, 1, 1), None, ag.ones(1), ag.ones(1), 0.0, None, None)
    >>> w.item(), b.item()
    (1.0, -1.0)
    """
    scale = (ones_like(bn_rm) if bn_w is None else bn_w) * (bn_rv + bn_eps).rsqrt()
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.ndim - 2))
    return _fused(conv_w, conv_b, weight, scale, bn_rm, bn_b)


@_public
def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """``fuse_linear_bn_eval(linear, bn)``: a Linear that computes the same as both in sequence.

    AssertionError unless both are in eval mode, and the normalization has one feature or as many as the Linear returns.
    """
    _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got linear.out_features="
            f"{linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        linear.weight, linear.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


@_public
def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple[Parameter, Parameter]:
    """``fuse_linear_bn_weights(weight, bias, running_mean, running_var, eps, bn_weight, bn_bias)``: weight and bias for both.

    >>> import autograd_cy as ag
    >>> one = ag.ones(1)
    >>> w, b = ag.nn.utils.fuse_linear_bn_weights(ag.ones(1, 2), one, one, one, 0.0, one * 3, one)
    >>> w.data, b.data
    (tensor([[3., 3.]]), tensor([1.]))
    """
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    return _fused(linear_w, linear_b, linear_w * scale.unsqueeze(-1), scale, bn_rm, bn_b)


def _fused(
    old_weight: Tensor, old_bias: Tensor | None, weight: Tensor, scale: Tensor, mean: Tensor, shift: Tensor | None
) -> tuple[Parameter, Parameter]:
    bias = zeros_like(mean) if old_bias is None else old_bias
    moved = (bias - mean) * scale + (0 if shift is None else shift)
    bias_dtype = old_weight.dtype if old_bias is None else old_bias.dtype
    return (
        Parameter(weight.detach().to(old_weight.dtype), old_weight.requires_grad),
        Parameter(moved.detach().to(bias_dtype), bias.requires_grad),
    )


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
