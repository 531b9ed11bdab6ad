"""Convolutions that are not transposed (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from .. import functional as F
from ._conv_base import _ConvNd
from .utils import _ntuple

_Size = int | tuple[int, ...]


class _Conv(_ConvNd):
    """A convolution that is not transposed."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _Size, stride: _Size = 1, padding: str | _Size = 0,
        dilation: _Size = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels, out_channels, sizes(kernel_size), sizes(stride),
            padding if isinstance(padding, str) else sizes(padding), sizes(dilation), False, sizes(0), groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0
        return getattr(F, self._function)(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """``Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, ...)``.

    The cross-correlation of (N, in, L) or (in, L) with weight (out, in / groups, kernel), plus bias (out,).
    `padding` is a number, "valid" or "same"; `padding_mode` is "zeros", "reflect", "replicate" or "circular".

    >>> import autograd_cy as ag
    >>> ag.nn.Conv1d(2, 3, 5)(ag.ones(1, 2, 9)).shape
    torch.Size([1, 3, 5])
    """

    _dims, _function = 1, "conv1d"


class Conv2d(_Conv):
    """``Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, ...)``.

    As Conv1d, of (N, in, H, W) or (in, H, W); sizes are numbers or pairs of them.

    >>> import autograd_cy as ag
    >>> ag.nn.Conv2d(2, 3, 3, stride=2, padding=1)(ag.ones(1, 2, 9, 9)).shape
    torch.Size([1, 3, 5, 5])
    """

    _dims, _function = 2, "conv2d"


class Conv3d(_Conv):
    """``Conv3d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, ...)``.

    As Conv1d, of (N, in, D, H, W) or (in, D, H, W); sizes are numbers or triples of them.

    >>> import autograd_cy as ag
    >>> ag.nn.Conv3d(2, 3, 3)(ag.ones(1, 2, 5, 5, 5)).shape
    torch.Size([1, 3, 3, 3, 3])
    """

    _dims, _function = 3, "conv3d"
