"""``torch.backends.mkldnn``: switches that nothing depends on (facade)."""

from contextlib import nullcontext
from typing import Any

from ._absent import is_available
from ._absent import switches as _switches

__all__ = [
    "VERBOSE_OFF", "VERBOSE_ON", "VERBOSE_ON_CREATION", "allow_tf32", "deterministic", "enabled", "flags",
    "fp32_precision", "is_available", "set_flags", "verbose",
]  # fmt: skip

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2
enabled = True
deterministic, allow_tf32, fp32_precision = False, None, "none"
flags, set_flags = _switches(__name__)


class verbose(nullcontext[None]):
    """``with verbose(VERBOSE_ON):`` changes nothing.

    >>> import autograd_cy as ag
    >>> with ag.backends.mkldnn.verbose(ag.backends.mkldnn.VERBOSE_ON):
    ...     pass
    """

    def __init__(self, level: Any):
        super().__init__()
