"""Helpers of the facade."""

from . import hooks

__all__ = ["hooks"]
