"""``torch.cpu.amp``: the names of torch.amp for the CPU (facade)."""

from typing import Any

from ..amp import GradScaler as _GradScaler
from ..amp import autocast as _autocast
from ..amp._older_names import warn_of_older_name as _warn_of_older_name

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):
    """``autocast()`` is torch.amp.autocast("cpu"). It is deprecated.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"), ag.cpu.amp.autocast(enabled=False):
    ...     ag.ones(1)
    tensor([1.])
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True):
        _warn_of_older_name("cpu", "autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """``GradScaler()`` is torch.amp.GradScaler("cpu"). It is deprecated.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ag.cpu.amp.GradScaler(enabled=False).get_scale()
    1.0
    """

    def __init__(self, *args: Any, **kwargs: Any):
        _warn_of_older_name("cpu", "GradScaler")
        super().__init__("cpu", *args, **kwargs)
