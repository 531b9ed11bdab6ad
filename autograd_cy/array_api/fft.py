"""The extension `fft` of the Array API standard (facade)."""

from collections.abc import Callable
from typing import Any

import numpy as _np

from .. import fft as _fft
from .._core.arrays import dtypes as _dtypes
from .._core.graph.tensor import Tensor as _Tensor
from .._core.graph.tensor import sharing as _sharing
from ._promotion import checked as _checked
from ._promotion import named as _named

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _of_one_axis(operation: Callable[..., _Tensor], name: str) -> Callable[..., _Tensor]:
    def transform(x: _Tensor, /, *, n: Any = None, axis: int = -1, norm: Any = "backward") -> _Tensor:
        return operation(x, n, axis, norm)

    return _named(transform, name, 'x, /, *, n=None, axis=-1, norm="backward"')


def _of_several(operation: Callable[..., _Tensor], name: str) -> Callable[..., _Tensor]:
    def transform(x: _Tensor, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> _Tensor:
        return operation(x, s, axes, norm)

    return _named(transform, name, 'x, /, *, s=None, axes=None, norm="backward"')


fft = _of_one_axis(_fft.fft, "fft")
ifft = _of_one_axis(_fft.ifft, "ifft")
rfft = _of_one_axis(_fft.rfft, "rfft")
irfft = _of_one_axis(_fft.irfft, "irfft")
hfft = _of_one_axis(_fft.hfft, "hfft")
ihfft = _of_one_axis(_fft.ihfft, "ihfft")
fftn = _of_several(_fft.fftn, "fftn")
ifftn = _of_several(_fft.ifftn, "ifftn")
rfftn = _of_several(_fft.rfftn, "rfftn")
irfftn = _of_several(_fft.irfftn, "irfftn")


def fftshift(x: _Tensor, /, *, axes: Any = None) -> _Tensor:
    """fftshift(x, /, *, axes=None): the zero frequency in the middle."""
    return _fft.fftshift(x, axes)


def ifftshift(x: _Tensor, /, *, axes: Any = None) -> _Tensor:
    """ifftshift(x, /, *, axes=None): what undoes fftshift()."""
    return _fft.ifftshift(x, axes)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> _Tensor:
    """fftfreq(n, /, *, d=1.0, dtype=None, device=None): the frequencies of fft() of n samples at distance d."""
    return _made(_np.fft.fftfreq(n, d), dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> _Tensor:
    """rfftfreq(n, /, *, d=1.0, dtype=None, device=None): the frequencies of rfft() of n samples at distance d."""
    return _made(_np.fft.rfftfreq(n, d), dtype, device)


def _made(array: Any, dtype: Any, device: Any) -> _Tensor:
    _checked(device)
    wanted = _dtypes.get_default() if dtype is None else _dtypes.convert(dtype)
    return _sharing(array.astype(wanted.numpy_dtype))
