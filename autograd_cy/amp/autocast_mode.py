"""autocast, which changes no dtype here, and says so (facade)."""

import functools
from collections.abc import Callable
from typing import Any

from .._core.arrays.dtypes import dtype as _dtype
from .._core.runtime.once import warn_once as _warn_once
from .._core.runtime.once import warn_user as _warn_user
from .._size import device

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """``is_autocast_available("cpu")`` is False: operations compute in the dtypes of their operands.

    >>> import autograd_cy as ag
    >>> ag.amp.is_autocast_available("cuda")
    False
    """
    if not isinstance(device_type, str):
        raise TypeError(f"is_autocast_available(): argument 'device_type' must be str, not {type(device_type).__name__}")
    return False


class autocast:
    """``with autocast("cpu"):`` or ``@autocast("cpu")``: all stays in the dtypes of the tensors; a warning says so once.

    For "cuda" a warning says that there is none. ValueError if device_type is no str, TypeError if dtype is no dtype,
    RuntimeError for another device.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"), ag.autocast("cpu"):
    ...     ag.mm(ag.ones(1, 2), ag.ones(2, 1)).dtype
    torch.float32
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if dtype is not None and not isinstance(dtype, _dtype):
            raise TypeError(f"autocast(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
        if device_type != "cuda":
            device(device_type)
        self.device, self.fast_dtype = device_type, dtype
        if enabled and device_type == "cuda":
            _warn_user("CUDA is not available: this package is for the CPU only. Disabling autocast.")
        elif enabled:
            _warn_once("autocast changes nothing here: operations compute in their operands' dtypes. Disabling autocast.")

    def __enter__(self) -> "autocast":
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def in_autocast(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return in_autocast


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """``@custom_fwd(device_type="cpu")`` above the forward of a Function: it is returned as it is; there is no autocast.

    ValueError if device_type is no str.

    >>> import autograd_cy as ag
    >>> ag.amp.custom_fwd(abs, device_type="cpu") is abs
    True
    """
    return _unchanged(fwd, device_type)


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """``@custom_bwd(device_type="cpu")`` above the backward of a Function: it is returned as it is; there is no autocast.

    ValueError if device_type is no str.

    >>> import autograd_cy as ag
    >>> ag.amp.custom_bwd(device_type="cpu")(abs) is abs
    True
    """
    return _unchanged(bwd, device_type)


def _unchanged(function: Any, device_type: Any) -> Any:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return function if function is not None else lambda function: function
