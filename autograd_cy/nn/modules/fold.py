"""Patches of images to columns, and back (facade)."""

from ._function_layer import FunctionLayer as _FunctionLayer

__all__ = ["Fold", "Unfold"]

_Size = int | tuple[int, ...]


class Fold(_FunctionLayer, function="fold"):
    """``Fold(output_size, kernel_size, dilation=1, padding=0, stride=1)``: images that are sums of patches.

    (N, C * kernel, patches) or without N becomes (N, C, *output_size).

    >>> import autograd_cy as ag
    >>> ag.nn.Fold(output_size=(2, 3), kernel_size=(2, 2))(ag.ones(1, 4, 2)).flatten()
    tensor([1., 2., 1., 1., 2., 1.])
    """

    output_size: _Size
    kernel_size: _Size
    dilation: _Size = 1
    padding: _Size = 0
    stride: _Size = 1


class Unfold(_FunctionLayer, function="unfold"):
    """``Unfold(kernel_size, dilation=1, padding=0, stride=1)``: the patches of images, each a column.

    (N, C, H, W) or without N becomes (N, C * kernel, patches).

    >>> import autograd_cy as ag
    >>> ag.nn.Unfold(kernel_size=2)(ag.arange(6.0).reshape(1, 1, 2, 3))[0].T
    tensor([[0., 1., 3., 4.],
            [1., 2., 4., 5.]])
    """

    kernel_size: _Size
    dilation: _Size = 1
    padding: _Size = 0
    stride: _Size = 1
