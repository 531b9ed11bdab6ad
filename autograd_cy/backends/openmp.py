"""``torch.backends.openmp`` (facade)."""

from ._absent import is_available

__all__ = ["is_available"]
