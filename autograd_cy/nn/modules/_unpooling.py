"""Unpooling: the results of max pooling are put back at their positions (facade)."""

from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from .. import functional as F
from ._windows import WindowLayer
from .utils import _ntuple

__all__ = ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]

_Size = int | tuple[int, ...]


class _MaxUnpoolNd(WindowLayer, function=None):
    _dims: ClassVar[int]
    kernel_size: _Size
    stride: _Size | None = None
    padding: _Size = 0

    def _store(self, settings: dict[str, Any]) -> None:
        super()._store(settings)
        as_tuple = _ntuple(self._dims)
        self.kernel_size, self.stride, self.padding = map(as_tuple, (self.kernel_size, self.stride, self.padding))

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        unpool = getattr(F, self._function)
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd, function="max_unpool1d"):
    """``MaxUnpool1d(kernel_size, stride=None, padding=0)``: results of MaxPool1d at their positions, zeros elsewhere.

    It is called with the pooled tensor and the indices, and with `output_size` where more than one is possible.

    >>> import autograd_cy as ag
    >>> pooled, indices = ag.nn.MaxPool1d(2, return_indices=True)(ag.arange(4.0).reshape(1, 1, 4))
    >>> ag.nn.MaxUnpool1d(2)(pooled, indices).flatten()
    tensor([0., 1., 0., 3.])
    """

    _dims = 1


class MaxUnpool2d(_MaxUnpoolNd, function="max_unpool2d"):
    """``MaxUnpool2d(kernel_size, stride=None, padding=0)``: results of MaxPool2d at their positions, zeros elsewhere.

    It is called with the pooled tensor and the indices, and with `output_size` where more than one is possible.

    >>> import autograd_cy as ag
    >>> pooled, indices = ag.nn.MaxPool2d((1, 2), return_indices=True)(ag.arange(4.0).reshape(1, 1, 1, 4))
    >>> ag.nn.MaxUnpool2d((1, 2))(pooled, indices).flatten()
    tensor([0., 1., 0., 3.])
    """

    _dims = 2


class MaxUnpool3d(_MaxUnpoolNd, function="max_unpool3d"):
    """``MaxUnpool3d(kernel_size, stride=None, padding=0)``: results of MaxPool3d at their positions, zeros elsewhere.

    It is called with the pooled tensor and the indices, and with `output_size` where more than one is possible.

    >>> import autograd_cy as ag
    >>> pooled, indices = ag.nn.MaxPool3d((1, 1, 2), return_indices=True)(ag.arange(4.0).reshape(1, 1, 1, 1, 4))
    >>> ag.nn.MaxUnpool3d((1, 1, 2))(pooled, indices).flatten()
    tensor([0., 1., 0., 3.])
    """

    _dims = 3
