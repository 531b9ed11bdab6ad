"""The softmax family: layers that make probabilities along a dimension (facade)."""

from ..._core.graph.tensor import Tensor
from .. import functional as F
from ._function_layer import FunctionLayer
from .module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class _AlongDimension(FunctionLayer, function=None):
    """Softmax and its like."""

    dim: int | None = None


class Softmax(_AlongDimension, function="softmax"):
    """``Softmax(dim=None)``: exp(x) divided by its sum along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nn.Softmax(dim=1)(ag.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """


class Softmin(_AlongDimension, function="softmin"):
    """``Softmin(dim=None)``: softmax of -x along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nn.Softmin(dim=1)(ag.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """


class LogSoftmax(_AlongDimension, function="log_softmax"):
    """``LogSoftmax(dim=None)``: the logarithm of softmax along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nn.LogSoftmax(dim=1)(ag.zeros(1, 2))
    tensor([[-0.6931, -0.6931]])
    """


class Softmax2d(Module):
    """``Softmax2d()``: softmax over the channels at each place of an image (N, C, H, W) or (C, H, W).

    >>> import autograd_cy as ag
    >>> ag.nn.Softmax2d()(ag.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
