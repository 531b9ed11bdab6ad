"""The handle that registering a hook returns (facade)."""

from .._core.handle import RemovableHandle

__all__ = ["RemovableHandle"]
