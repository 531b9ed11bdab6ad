"""Channels to pixels, and back (facade)."""

from ._function_layer import FunctionLayer as _FunctionLayer

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(_FunctionLayer, function="pixel_shuffle"):
    """``PixelShuffle(upscale_factor)``: (*, C * r * r, H, W) becomes (*, C, H * r, W * r) (arXiv:1609.05158).

    >>> import autograd_cy as ag
    >>> ag.nn.PixelShuffle(2)(ag.arange(4.0).reshape(4, 1, 1))
    tensor([[[0., 1.],
             [2., 3.]]])
    """

    upscale_factor: int


class PixelUnshuffle(_FunctionLayer, function="pixel_unshuffle"):
    """``PixelUnshuffle(downscale_factor)``: (*, C, H * r, W * r) becomes (*, C * r * r, H, W).

    >>> import autograd_cy as ag
    >>> ag.nn.PixelUnshuffle(2)(ag.arange(4.0).reshape(1, 2, 2)).flatten()
    tensor([0., 1., 2., 3.])
    """

    downscale_factor: int
