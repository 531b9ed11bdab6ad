"""Pooling: windows of signals, images and volumes reduced to their maximum, mean or norm (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from .. import functional as _F
from ._adaptive_pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    FractionalMaxPool2d,
    FractionalMaxPool3d,
)  # fmt: skip
from ._function_layer import FunctionLayer as _FunctionLayer
from ._unpooling import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
from ._windows import WindowLayer as _WindowLayer
from .utils import _single

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d",
    "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip

_Size = int | tuple[int, ...]


class _MaxPoolNd(_WindowLayer, function=None):
    kernel_size: _Size
    stride: _Size | None = None
    padding: _Size = 0
    dilation: _Size = 1
    return_indices: bool = False
    ceil_mode: bool = False

    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPoolNd, function="max_pool1d"):
    """``MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)``.

    The largest element of each window of (N, C, L) or (C, L); with `return_indices` also its index.

    >>> import autograd_cy as ag
    >>> ag.nn.MaxPool1d(2)(ag.arange(4.0).reshape(1, 1, 4)).flatten()
    tensor([1., 3.])
    """


class MaxPool2d(_MaxPoolNd, function="max_pool2d"):
    """``MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)``.

    The largest element of each window of (N, C, H, W) or (C, H, W); with `return_indices` also its index.

    >>> import autograd_cy as ag
    >>> ag.nn.MaxPool2d((1, 2))(ag.arange(4.0).reshape(1, 1, 1, 4)).flatten()
    tensor([1., 3.])
    """


class MaxPool3d(_MaxPoolNd, function="max_pool3d"):
    """``MaxPool3d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)``.

    The largest element of each window of (N, C, D, H, W) or (C, D, H, W); with `return_indices` also its index.

    >>> import autograd_cy as ag
    >>> ag.nn.MaxPool3d((1, 1, 2))(ag.arange(4.0).reshape(1, 1, 1, 1, 4)).flatten()
    tensor([1., 3.])
    """


class _AvgPoolNd(_WindowLayer, function=None):
    kernel_size: _Size
    stride: _Size | None = None
    padding: _Size = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    _shown = ("kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd, function="avg_pool1d"):
    """``AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)``.

    The mean of each window of (N, C, L) or without N.

    >>> import autograd_cy as ag
    >>> ag.nn.AvgPool1d(2)(ag.arange(4.0).reshape(1, 1, 4)).flatten()
    tensor([0.5000, 2.5000])
    """

    def _store(self, settings: dict[str, Any]) -> None:
        super()._store(settings)
        self.kernel_size, self.stride, self.padding = map(_single, (self.kernel_size, self.stride, self.padding))


class AvgPool2d(_AvgPoolNd, function="avg_pool2d"):
    """``AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)``.

    The mean of each window of (N, C, H, W) or without N.

    >>> import autograd_cy as ag
    >>> ag.nn.AvgPool2d((1, 2))(ag.arange(4.0).reshape(1, 1, 1, 4)).flatten()
    tensor([0.5000, 2.5000])
    """

    divisor_override: int | None = None


class AvgPool3d(_AvgPoolNd, function="avg_pool3d"):
    """``AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)``.

    The mean of each window of (N, C, D, H, W) or without N.

    >>> import autograd_cy as ag
    >>> ag.nn.AvgPool3d((1, 1, 2))(ag.arange(4.0).reshape(1, 1, 1, 1, 4)).flatten()
    tensor([0.5000, 2.5000])
    """

    divisor_override: int | None = None


class _LPPoolNd(_FunctionLayer, function=None):
    norm_type: float
    kernel_size: _Size
    stride: _Size | None = None
    ceil_mode: bool = False

    def forward(self, input: Tensor) -> Tensor:
        pool = getattr(_F, self._function)
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPoolNd, function="lp_pool1d"):
    """``LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False)``: the p-norm of each window of (N, C, L).

    >>> import autograd_cy as ag
    >>> ag.nn.LPPool1d(2, 2)(ag.tensor([3.0, 4.0]).reshape(1, 1, 2)).flatten()
    tensor([5.])
    """


class LPPool2d(_LPPoolNd, function="lp_pool2d"):
    """``LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False)``: the p-norm of each window of (N, C, H, W).

    >>> import autograd_cy as ag
    >>> ag.nn.LPPool2d(2, (1, 2))(ag.tensor([3.0, 4.0]).reshape(1, 1, 1, 2)).flatten()
    tensor([5.])
    """


class LPPool3d(_LPPoolNd, function="lp_pool3d"):
    """``LPPool3d(norm_type, kernel_size, stride=None, ceil_mode=False)``: the p-norm of each window of (N, C, D, H, W).

    >>> import autograd_cy as ag
    >>> ag.nn.LPPool3d(2, (1, 1, 2))(ag.tensor([3.0, 4.0]).reshape(1, 1, 1, 1, 2)).flatten()
    tensor([5.])
    """
