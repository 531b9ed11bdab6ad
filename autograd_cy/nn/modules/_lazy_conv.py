"""Convolutions that learn the number of their input's channels from their first input (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from ...autograd.grad_mode import no_grad
from ..parameter import UninitializedParameter
from ._plain_conv import Conv1d, Conv2d, Conv3d
from ._transposed_conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .lazy import LazyModuleMixin

_Size = int | tuple[int, ...]


class _LazyConvXdMixin(LazyModuleMixin):
    """The common part of lazy convolutions; comes before the convolution's class in the bases."""

    _dims: int
    in_channels: int
    out_channels: int
    groups: int
    weight: Any
    bias: Any

    def _without_shapes(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        """Replace the parameters of the convolution without channels by parameters without a shape."""
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """``initialize_parameters(input)`` gives weight and bias their shapes and initial values."""
        channels = self._channels_of(input)
        if channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        self.in_channels = channels
        if not self.has_uninitialized_params():
            return
        with no_grad():
            self.weight.materialize(self._weight_shape())  # type: ignore[attr-defined]
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _channels_of(self, input: Tensor) -> int:
        unbatched = self._dims + 1
        if input.dim() not in (unbatched, unbatched + 1):
            raise RuntimeError(
                f"Expected {unbatched}D (unbatched) or {unbatched + 1}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        return input.shape[input.dim() - unbatched]


class _LazyConv(_LazyConvXdMixin):
    def __init__(
        self, out_channels: int, kernel_size: _Size, stride: _Size = 1, padding: str | _Size = 0, dilation: _Size = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._without_shapes(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self, out_channels: int, kernel_size: _Size, stride: _Size = 1, padding: _Size = 0, output_padding: _Size = 0,
        groups: int = 1, bias: bool = True, dilation: _Size = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype
        )
        self._without_shapes(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """``LazyConv1d(out_channels, kernel_size, ...)``: a Conv1d that takes in_channels from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyConv1d(3, 2)
    >>> layer(ag.ones(1, 5, 4)).shape, type(layer).__name__, layer.in_channels
    (torch.Size([1, 3, 3]), 'Conv1d', 5)
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """``LazyConv2d(out_channels, kernel_size, ...)``: a Conv2d that takes in_channels from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyConv2d(3, 2)
    >>> layer(ag.ones(1, 5, 4, 4)).shape, type(layer).__name__, layer.in_channels
    (torch.Size([1, 3, 3, 3]), 'Conv2d', 5)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """``LazyConv3d(out_channels, kernel_size, ...)``: a Conv3d that takes in_channels from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyConv3d(3, 2)
    >>> layer(ag.ones(1, 5, 4, 4, 4)).shape, type(layer).__name__, layer.in_channels
    (torch.Size([1, 3, 3, 3, 3]), 'Conv3d', 5)
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """``LazyConvTranspose1d(out_channels, kernel_size, ...)``: a ConvTranspose1d that takes in_channels from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyConvTranspose1d(3, 2)
    >>> layer(ag.ones(1, 5, 4)).shape, type(layer).__name__, layer.in_channels
    (torch.Size([1, 3, 5]), 'ConvTranspose1d', 5)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """``LazyConvTranspose2d(out_channels, kernel_size, ...)``: a ConvTranspose2d that takes in_channels from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyConvTranspose2d(3, 2)
    >>> layer(ag.ones(1, 5, 4, 4)).shape, type(layer).__name__, layer.in_channels
    (torch.Size([1, 3, 5, 5]), 'ConvTranspose2d', 5)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """``LazyConvTranspose3d(out_channels, kernel_size, ...)``: a ConvTranspose3d that takes in_channels from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyConvTranspose3d(3, 2)
    >>> layer(ag.ones(1, 5, 4, 4, 4)).shape, type(layer).__name__, layer.in_channels
    (torch.Size([1, 3, 5, 5, 5]), 'ConvTranspose3d', 5)
    """

    cls_to_become = ConvTranspose3d
