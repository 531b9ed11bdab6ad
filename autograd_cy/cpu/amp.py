"""``torch.cpu.amp``: the names of torch.amp for the CPU (facade)."""

from typing import Any

from ..amp import GradScaler as _GradScaler
from ..amp import autocast as _autocast

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):
    """``autocast()`` is torch.amp.autocast("cpu").

    >>> import autograd_cy as ag
    >>> with ag.cpu.amp.autocast(enabled=False):
    ...     ag.ones(1)
    tensor([1.])
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True):
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """``GradScaler()`` is torch.amp.GradScaler("cpu").

    >>> import autograd_cy as ag
    >>> ag.cpu.amp.GradScaler(enabled=False).get_scale()
    1.0
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("cpu", *args, **kwargs)
