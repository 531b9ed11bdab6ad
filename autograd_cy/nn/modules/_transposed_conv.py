"""Transposed convolutions: the gradients of convolutions as layers (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from .. import functional as F
from ._conv_base import _ConvNd
from .utils import _ntuple

_Size = int | tuple[int, ...]


class _ConvTransposeNd(_ConvNd):
    """The base of transposed convolutions."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _Size, stride: _Size = 1, padding: _Size = 0,
        output_padding: _Size = 0, groups: int = 1, bias: bool = True, dilation: _Size = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels, out_channels, sizes(kernel_size), sizes(stride), sizes(padding), sizes(dilation), True,
            sizes(output_padding), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """``forward(input, output_size=None)``: with a stride above 1 it selects one of several possible sizes."""
        more = self.output_padding if output_size is None else self._output_padding_for(input, list(output_size))
        convolved = getattr(F, self._function)
        return convolved(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)

    def _output_padding_for(self, input: Tensor, sizes: list[int]) -> list[int]:
        dims = self._dims
        before = 2 if input.dim() == dims + 2 else 1
        if len(sizes) == before + dims:
            sizes = sizes[before:]
        if len(sizes) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or {before + dims} elements "
                f"(got {len(sizes)})"
            )
        least = [
            (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1
            for size, stride, padding, dilation, kernel in zip(
                input.shape[before:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [size + stride - 1 for size, stride in zip(least, self.stride, strict=True)]
        if not all(low <= size <= high for low, size, high in zip(least, sizes, most, strict=True)):
            raise ValueError(
                f"requested an output size of {sizes}, but valid sizes range from {least} to {most} "
                f"(for an input of {input.shape[2:]})"
            )
        return [size - low for size, low in zip(sizes, least, strict=True)]


class ConvTranspose1d(_ConvTransposeNd):
    """``ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, ...)``.

    Each element of (N, in, L) or (in, L) adds the kernel, times the element, to the output, `stride` apart; `padding`
    elements are cut off at both ends, and `output_padding` are added at one. weight: (in, out / groups, kernel).

    >>> import autograd_cy as ag
    >>> ag.nn.ConvTranspose1d(2, 3, 4, stride=2)(ag.ones(1, 2, 5)).shape
    torch.Size([1, 3, 12])
    """

    _dims, _function = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """``ConvTranspose2d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, ...)``.

    As ConvTranspose1d, of (N, in, H, W) or (in, H, W).

    >>> import autograd_cy as ag
    >>> layer = ag.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    >>> layer(ag.ones(1, 2, 5, 5)).shape, layer(ag.ones(1, 2, 5, 5), output_size=(10, 10)).shape
    (torch.Size([1, 3, 9, 9]), torch.Size([1, 3, 10, 10]))
    """

    _dims, _function = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """``ConvTranspose3d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, ...)``.

    As ConvTranspose1d, of (N, in, D, H, W) or (in, D, H, W).

    >>> import autograd_cy as ag
    >>> ag.nn.ConvTranspose3d(2, 3, 2, stride=2)(ag.ones(1, 2, 3, 3, 3)).shape
    torch.Size([1, 3, 6, 6, 6])
    """

    _dims, _function = 3, "conv_transpose3d"
