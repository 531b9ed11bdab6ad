"""``torch.backends.mps`` (facade)."""

from ._absent import is_available, is_built

__all__ = ["is_available", "is_built"]
