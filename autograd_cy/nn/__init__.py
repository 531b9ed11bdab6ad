"""Neural networks: the functions (facade)."""

from typing import TYPE_CHECKING

from .._missing import getattr_of as _getattr_of
from . import functional

__all__ = ["functional"]

if not TYPE_CHECKING:  # else any name would be right
    __getattr__ = _getattr_of(__name__, "torch.nn")
