"""``torch.cuda.amp``: the names of torch.amp for "cuda", which is not there (facade)."""

from typing import Any

from ..amp import GradScaler as _GradScaler
from ..amp import autocast as _autocast
from ..amp import custom_bwd as _custom_bwd
from ..amp import custom_fwd as _custom_fwd
from ..amp._older_names import warn_of_older_name as _warn_of_older_name

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_autocast):
    """``autocast()`` is torch.amp.autocast("cuda"). It is deprecated; it warns that there is none, and changes nothing.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"), ag.cuda.amp.autocast(enabled=False):
    ...     ag.ones(1)
    tensor([1.])
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True):
        _warn_of_older_name("cuda", "autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """``GradScaler()`` is torch.amp.GradScaler("cuda"). It is deprecated; it warns that there is none, and is disabled.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ag.cuda.amp.GradScaler(enabled=False).get_scale()
    1.0
    """

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        _warn_of_older_name("cuda", "GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """``@custom_fwd`` is ``@torch.amp.custom_fwd(device_type="cuda")``: without a GPU, the forward is what it was. Deprecated.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ag.cuda.amp.custom_fwd(abs).__name__
    'abs'
    """
    _warn_of_older_name("cuda", "custom_fwd")
    return _custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """``@custom_bwd`` is ``@torch.amp.custom_bwd(device_type="cuda")``: without a GPU, the backward is as it was. Deprecated.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ag.cuda.amp.custom_bwd(abs).__name__
    'abs'
    """
    _warn_of_older_name("cuda", "custom_bwd")
    return _custom_bwd(bwd, device_type="cuda")
