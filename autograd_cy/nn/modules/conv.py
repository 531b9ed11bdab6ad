"""Convolutions, plain and transposed, of signals, images and volumes (facade)."""

from ._conv_base import _ConvNd
from ._lazy_conv import (
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
)  # fmt: skip
from ._plain_conv import Conv1d, Conv2d, Conv3d
from ._transposed_conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, _ConvTransposeNd

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "_ConvNd", "_ConvTransposeNd",
]  # fmt: skip
