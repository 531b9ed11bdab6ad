"""Pooling to a given output size: adaptive and fractional (facade)."""

from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ._function_layer import FunctionLayer
from .utils import _ntuple

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
]  # fmt: skip

_Size = int | tuple[int, ...]
_Ratio = float | tuple[float, ...]


class _FractionalMaxPoolNd(FunctionLayer, function=None):
    _dims: ClassVar[int]
    kernel_size: _Size
    output_size: _Size | None = None
    output_ratio: _Ratio | None = None
    return_indices: bool = False
    _random_samples: Tensor | None = None

    def _store(self, settings: dict[str, Any]) -> None:
        name, size, ratio = type(self).__name__, settings["output_size"], settings["output_ratio"]
        as_tuple = _ntuple(self._dims)
        kernel_size = as_tuple(settings["kernel_size"])
        if not all(k > 0 for k in kernel_size):
            raise ValueError(f"kernel_size must be greater than 0, but got {settings['kernel_size']}")
        if size is None and ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if size is not None and ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if ratio is not None and not all(0 < r < 1 for r in as_tuple(ratio)):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {ratio})")
        self.kernel_size, self.return_indices = kernel_size, settings["return_indices"]
        self.register_buffer("_random_samples", settings["_random_samples"])
        self.output_size = None if size is None else as_tuple(size)
        self.output_ratio = None if ratio is None else as_tuple(ratio)

    _shown = ()


class FractionalMaxPool2d(_FractionalMaxPoolNd, function="fractional_max_pool2d"):
    """``FractionalMaxPool2d(kernel_size, output_size=None, output_ratio=None, return_indices=False)``.

    The largest element of each window of (N, C, H, W) or (C, H, W). Windows are placed at random; their number is given
    (Graham 2014, arXiv:1412.6071).

    >>> import autograd_cy as ag
    >>> ag.nn.FractionalMaxPool2d(2, output_ratio=0.5)(ag.ones(1, 1, 8, 8)).shape
    torch.Size([1, 1, 4, 4])
    """

    _dims = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd, function="fractional_max_pool3d"):
    """``FractionalMaxPool3d(kernel_size, output_size=None, output_ratio=None, return_indices=False)``.

    The largest element of each window of (N, C, D, H, W) or (C, D, H, W). Windows are placed at random; their number is
    given (Graham 2014, arXiv:1412.6071).

    >>> import autograd_cy as ag
    >>> ag.nn.FractionalMaxPool3d(2, output_ratio=0.5)(ag.ones(1, 1, 8, 8, 8)).shape
    torch.Size([1, 1, 4, 4, 4])
    """

    _dims = 3


class _AdaptiveMaxPoolNd(FunctionLayer, function=None):
    output_size: Any
    return_indices: bool = False

    _shown = ("output_size",)


class _AdaptiveAvgPoolNd(FunctionLayer, function=None):
    output_size: Any


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, function="adaptive_max_pool1d"):
    """``AdaptiveMaxPool1d(output_size, return_indices=False)``.

    The largest element of each of `output_size` windows of (N, C, L).

    >>> import autograd_cy as ag
    >>> ag.nn.AdaptiveMaxPool1d(2)(ag.arange(4.0).reshape(1, 1, 4)).flatten()
    tensor([1., 3.])
    """


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, function="adaptive_max_pool2d"):
    """``AdaptiveMaxPool2d(output_size, return_indices=False)``.

    The largest element of each of `output_size` windows of (N, C, H, W); None keeps a dimension.

    >>> import autograd_cy as ag
    >>> ag.nn.AdaptiveMaxPool2d((1, 2))(ag.arange(4.0).reshape(1, 1, 1, 4)).flatten()
    tensor([1., 3.])
    """


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, function="adaptive_max_pool3d"):
    """``AdaptiveMaxPool3d(output_size, return_indices=False)``.

    The largest element of each of `output_size` windows of (N, C, D, H, W); None keeps a dimension.

    >>> import autograd_cy as ag
    >>> ag.nn.AdaptiveMaxPool3d((1, 1, 2))(ag.arange(4.0).reshape(1, 1, 1, 1, 4)).flatten()
    tensor([1., 3.])
    """


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool1d"):
    """``AdaptiveAvgPool1d(output_size)``: the mean of each of `output_size` windows of (N, C, L).

    >>> import autograd_cy as ag
    >>> ag.nn.AdaptiveAvgPool1d(2)(ag.arange(4.0).reshape(1, 1, 4)).flatten()
    tensor([0.5000, 2.5000])
    """


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool2d"):
    """``AdaptiveAvgPool2d(output_size)``.

    The mean of each of `output_size` windows of (N, C, H, W); None keeps a dimension.

    >>> import autograd_cy as ag
    >>> ag.nn.AdaptiveAvgPool2d((1, 2))(ag.arange(4.0).reshape(1, 1, 1, 4)).flatten()
    tensor([0.5000, 2.5000])
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool3d"):
    """``AdaptiveAvgPool3d(output_size)``.

    The mean of each of `output_size` windows of (N, C, D, H, W); None keeps a dimension.

    >>> import autograd_cy as ag
    >>> ag.nn.AdaptiveAvgPool3d((1, 1, 2))(ag.arange(4.0).reshape(1, 1, 1, 1, 4)).flatten()
    tensor([0.5000, 2.5000])
    """
