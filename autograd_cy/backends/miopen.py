"""``torch.backends.miopen``: a switch that nothing depends on (facade)."""

from ._absent import is_available
from ._absent import switches as _switches

__all__ = ["enabled", "flags", "is_available", "set_flags"]

enabled = False
flags, set_flags = _switches(__name__)
