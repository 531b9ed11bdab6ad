"""Helpers of the facade."""

from . import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
