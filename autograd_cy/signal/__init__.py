"""Signals: their windows, under the names of torch.signal (facade)."""

from .._compat.missing import getattr_of as _getattr_of
from . import windows

__all__ = ["windows"]

__getattr__ = _getattr_of(__name__, "torch.signal")
