"""Neural networks: the functions (facade)."""

from . import functional

__all__ = ["functional"]
