"""``torch.backends.mkldnn``: a switch that nothing depends on (facade)."""

from ._absent import is_available

__all__ = ["enabled", "is_available"]

enabled = True
