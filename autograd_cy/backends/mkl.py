"""``torch.backends.mkl`` (facade)."""

from contextlib import nullcontext
from typing import Any

from ._absent import is_available

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON = 0, 1


class verbose(nullcontext[None]):
    """``with verbose(VERBOSE_ON):`` changes nothing.

    >>> import autograd_cy as ag
    >>> with ag.backends.mkl.verbose(ag.backends.mkl.VERBOSE_ON):
    ...     pass
    """

    def __init__(self, enable: Any):
        super().__init__()
