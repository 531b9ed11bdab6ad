"""Discrete Fourier transforms, under the names of torch.fft (facade)."""

from ._compat.missing import getattr_of as _getattr_of
from ._core.ops import basics as _basics  # noqa: F401  (they declare themselves)
from ._core.ops.registry import namespace_of as _namespace_of
from ._creation.sequences import fftfreq, rfftfreq

_names = _namespace_of("fft")
globals().update(_names)
__all__ = [*_names, "fftfreq", "rfftfreq"]
__getattr__ = _getattr_of(__name__, "torch.fft")
