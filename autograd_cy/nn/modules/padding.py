"""Padding: layers that add elements around their input, by five rules in 1 to 3 dimensions (facade)."""

from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from .. import functional as _F
from ._function_layer import FunctionLayer as _FunctionLayer
from .utils import _ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip

_Padding = int | tuple[int, ...]


class _Pad(_FunctionLayer, function=None):
    """Padding of `_dims` dimensions: one number, or the sizes before and after each dimension, last dimension first."""

    _dims: ClassVar[int]
    _mode: ClassVar[str]
    padding: _Padding

    def _store(self, settings: dict[str, Any]) -> None:
        super()._store({**settings, "padding": _ntuple(2 * self._dims)(settings["padding"])})

    def forward(self, input: Tensor) -> Tensor:
        return _F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad, function=None):
    _mode = "constant"
    value: float

    def forward(self, input: Tensor) -> Tensor:
        return _F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ReflectionPadNd(_Pad, function=None):
    _mode = "reflect"


class _ReplicationPadNd(_Pad, function=None):
    _mode = "replicate"


class _CircularPadNd(_Pad, function=None):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        without_batch = self._dims + 1
        if input.dim() not in (without_batch, without_batch + 1):
            raise ValueError(f"expected {without_batch}D or {without_batch + 1}D input (got {input.dim()}D input)")
        return super().forward(input)


class ConstantPad1d(_ConstantPadNd, function="pad"):
    """``ConstantPad1d(padding, value)``: `value` around (N, C, L) or (C, L); `padding` is one number or two.

    >>> import autograd_cy as ag
    >>> ag.nn.ConstantPad1d((2, 0), 7.0)(ag.arange(3.0).reshape(1, 3)).flatten()
    tensor([7., 7., 0., 1., 2.])
    """

    _dims = 1


class ConstantPad2d(_ConstantPadNd, function="pad"):
    """``ConstantPad2d(padding, value)``: `value` around (N, C, H, W) or (C, H, W); `padding` is one number or four.

    >>> import autograd_cy as ag
    >>> ag.nn.ConstantPad2d((2, 0, 0, 0), 7.0)(ag.arange(3.0).reshape(1, 1, 3)).flatten()
    tensor([7., 7., 0., 1., 2.])
    """

    _dims = 2


class ConstantPad3d(_ConstantPadNd, function="pad"):
    """``ConstantPad3d(padding, value)``.

    `value` around (N, C, D, H, W) or (C, D, H, W); `padding` is one number or six.

    >>> import autograd_cy as ag
    >>> ag.nn.ConstantPad3d((2, 0, 0, 0, 0, 0), 7.0)(ag.arange(3.0).reshape(1, 1, 1, 3)).flatten()
    tensor([7., 7., 0., 1., 2.])
    """

    _dims = 3


class ReflectionPad1d(_ReflectionPadNd, function="pad"):
    """``ReflectionPad1d(padding)``.

    (N, C, L) or (C, L) mirrored at its edges, which are not repeated; `padding` is one number or two.

    >>> import autograd_cy as ag
    >>> ag.nn.ReflectionPad1d((2, 0))(ag.arange(3.0).reshape(1, 3)).flatten()
    tensor([2., 1., 0., 1., 2.])
    """

    _dims = 1


class ReflectionPad2d(_ReflectionPadNd, function="pad"):
    """``ReflectionPad2d(padding)``.

    (N, C, H, W) or (C, H, W) mirrored at its edges, which are not repeated; `padding` is one number or four.

    >>> import autograd_cy as ag
    >>> ag.nn.ReflectionPad2d((2, 0, 0, 0))(ag.arange(3.0).reshape(1, 1, 3)).flatten()
    tensor([2., 1., 0., 1., 2.])
    """

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd, function="pad"):
    """``ReflectionPad3d(padding)``.

    (N, C, D, H, W) or (C, D, H, W) mirrored at its edges, which are not repeated; `padding` is one number or six.

    >>> import autograd_cy as ag
    >>> ag.nn.ReflectionPad3d((2, 0, 0, 0, 0, 0))(ag.arange(3.0).reshape(1, 1, 1, 3)).flatten()
    tensor([2., 1., 0., 1., 2.])
    """

    _dims = 3


class ReplicationPad1d(_ReplicationPadNd, function="pad"):
    """``ReplicationPad1d(padding)``: the edges of (N, C, L) or (C, L) repeated; `padding` is one number or two.

    >>> import autograd_cy as ag
    >>> ag.nn.ReplicationPad1d((2, 0))(ag.arange(3.0).reshape(1, 3)).flatten()
    tensor([0., 0., 0., 1., 2.])
    """

    _dims = 1


class ReplicationPad2d(_ReplicationPadNd, function="pad"):
    """``ReplicationPad2d(padding)``: the edges of (N, C, H, W) or (C, H, W) repeated; `padding` is one number or four.

    >>> import autograd_cy as ag
    >>> ag.nn.ReplicationPad2d((2, 0, 0, 0))(ag.arange(3.0).reshape(1, 1, 3)).flatten()
    tensor([0., 0., 0., 1., 2.])
    """

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd, function="pad"):
    """``ReplicationPad3d(padding)``.

    The edges of (N, C, D, H, W) or (C, D, H, W) repeated; `padding` is one number or six.

    >>> import autograd_cy as ag
    >>> ag.nn.ReplicationPad3d((2, 0, 0, 0, 0, 0))(ag.arange(3.0).reshape(1, 1, 1, 3)).flatten()
    tensor([0., 0., 0., 1., 2.])
    """

    _dims = 3


class CircularPad1d(_CircularPadNd, function="pad"):
    """``CircularPad1d(padding)``: (N, C, L) or (C, L) continued from its other end; `padding` is one number or two.

    >>> import autograd_cy as ag
    >>> ag.nn.CircularPad1d((2, 0))(ag.arange(3.0).reshape(1, 3)).flatten()
    tensor([1., 2., 0., 1., 2.])
    """

    _dims = 1


class CircularPad2d(_CircularPadNd, function="pad"):
    """``CircularPad2d(padding)``.

    (N, C, H, W) or (C, H, W) continued from its other end; `padding` is one number or four.

    >>> import autograd_cy as ag
    >>> ag.nn.CircularPad2d((2, 0, 0, 0))(ag.arange(3.0).reshape(1, 1, 3)).flatten()
    tensor([1., 2., 0., 1., 2.])
    """

    _dims = 2


class CircularPad3d(_CircularPadNd, function="pad"):
    """``CircularPad3d(padding)``.

    (N, C, D, H, W) or (C, D, H, W) continued from its other end; `padding` is one number or six.

    >>> import autograd_cy as ag
    >>> ag.nn.CircularPad3d((2, 0, 0, 0, 0, 0))(ag.arange(3.0).reshape(1, 1, 1, 3)).flatten()
    tensor([1., 2., 0., 1., 2.])
    """

    _dims = 3


class ZeroPad1d(ConstantPad1d):
    """``ZeroPad1d(padding)``: zeros around (N, C, L) or (C, L); `padding` is one number or two.

    >>> import autograd_cy as ag
    >>> ag.nn.ZeroPad1d((2, 0))(ag.ones(1, 3)).flatten()
    tensor([0., 0., 1., 1., 1.])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """``ZeroPad2d(padding)``: zeros around (N, C, H, W) or (C, H, W); `padding` is one number or four.

    >>> import autograd_cy as ag
    >>> ag.nn.ZeroPad2d((2, 0, 0, 0))(ag.ones(1, 1, 3)).flatten()
    tensor([0., 0., 1., 1., 1.])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """``ZeroPad3d(padding)``: zeros around (N, C, D, H, W) or (C, D, H, W); `padding` is one number or six.

    >>> import autograd_cy as ag
    >>> ag.nn.ZeroPad3d((2, 0, 0, 0, 0, 0))(ag.ones(1, 1, 1, 3)).flatten()
    tensor([0., 0., 1., 1., 1.])
    """

    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"
