"""Signals: their windows, under the names of torch.signal (facade)."""

from typing import TYPE_CHECKING

from .._missing import getattr_of as _getattr_of
from . import windows

__all__ = ["windows"]

if not TYPE_CHECKING:  # else any name would be right
    __getattr__ = _getattr_of(__name__, "torch.signal")
