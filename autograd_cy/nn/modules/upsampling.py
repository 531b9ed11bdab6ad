"""Resampling of signals and images (facade)."""

from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from .. import functional as _F
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]

_Size = int | tuple[int, ...]
_Ratio = float | tuple[float, ...]


class Upsample(Module):
    """``Upsample(size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None)``.

    F.interpolate() to a size or by factors, of (N, C, L), (N, C, H, W) or (N, C, D, H, W).

    >>> import autograd_cy as ag
    >>> ag.nn.Upsample(scale_factor=2)(ag.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    __constants__: ClassVar[list[str]] = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(
        self, size: _Size | None = None, scale_factor: _Ratio | None = None, mode: str = "nearest",
        align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: _Ratio | None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return _F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"recompute_scale_factor": True, **state})

    def extra_repr(self) -> str:
        size = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """``UpsamplingNearest2d(size=None, scale_factor=None)``: Upsample by the nearest pixel of (N, C, H, W).

    >>> import autograd_cy as ag
    >>> ag.nn.UpsamplingNearest2d(scale_factor=2)(ag.ones(1, 1, 1, 1)).shape
    torch.Size([1, 1, 2, 2])
    """

    def __init__(self, size: _Size | None = None, scale_factor: _Ratio | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """``UpsamplingBilinear2d(size=None, scale_factor=None)``: bilinear Upsample of (N, C, H, W) with aligned corners.

    >>> import autograd_cy as ag
    >>> ag.nn.UpsamplingBilinear2d(size=(1, 3))(ag.tensor([[[[0.0, 1.0]]]]))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """

    def __init__(self, size: _Size | None = None, scale_factor: _Ratio | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
