"""autocast: operations in lower precision, chosen by operation (facade). How it works: NOTE [Autocast]."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._core.arrays.dtypes import dtype as _dtype
from .._core.graph.tensor import Tensor
from .._core.runtime.once import warn_user as _warn_user
from .._settings import autocast as _autocast
from .._settings import autocast_rules as _autocast_rules  # noqa: F401  (the import registers the rules)
from .._types import device

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """``is_autocast_available("cpu")`` is True, for any other device False. RuntimeError for what is no device.

    >>> import autograd_cy as ag
    >>> ag.amp.is_autocast_available("cpu"), ag.amp.is_autocast_available("cuda")
    (True, False)
    """
    if not isinstance(device_type, str):
        raise TypeError(f"is_autocast_available(): argument 'device_type' must be str, not {type(device_type).__name__}")
    return device(device_type).type == "cpu"


class autocast:
    """``with autocast("cpu"):`` or ``@autocast("cpu")``: products in bfloat16 (or ``dtype=float16``), losses in float32.

    Operands of matrix products, convolutions, attention and recurrent layers are cast to the dtype; those of losses, of
    linear algebra and of Fourier transforms that are in lower precision to float32. float64 is never cast. Backward
    runs in the dtypes of the forward pass, outside of the context. cache_enabled: a weight is cast once.
    For "cuda" a warning says that there is none. ValueError if device_type is no str, TypeError if dtype is no dtype,
    RuntimeError for another device; ImportError on entering for bfloat16 without the package ml_dtypes.

    >>> import autograd_cy as ag
    >>> with ag.autocast("cpu", dtype=ag.float16):
    ...     y = ag.mm(ag.ones(1, 2), ag.ones(2, 1))
    ...     y.dtype, (y * ag.ones(1)).dtype
    (torch.float16, torch.float32)
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if dtype is not None and not isinstance(dtype, _dtype):
            raise TypeError(f"autocast(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
        if not isinstance(enabled, bool):
            raise TypeError(f"autocast(): argument 'enabled' must be bool, not {type(enabled).__name__}")
        kind = device(device_type).type
        if kind not in ("cpu", "cuda"):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{kind}'")
        self.device, self.fast_dtype = kind, _autocast.setting(kind).dtype if dtype is None else dtype
        self._cache_enabled = _autocast.is_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._is_supported()
        self._before: list[tuple[_autocast.Setting, bool]] = []

    def _is_supported(self) -> bool:
        if self.device == "cuda":
            _warn_user("CUDA is not available: this package is for the CPU only. Disabling autocast.")
        elif self.fast_dtype not in _autocast.LOWER:
            _warn_user(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
            )
        return self.device == "cpu" and self.fast_dtype in _autocast.LOWER

    def __enter__(self) -> "autocast":
        if self._enabled:
            self.fast_dtype.numpy_dtype  # noqa: B018  ImportError for bfloat16 without ml_dtypes
        self._before.append((_autocast.setting(self.device), _autocast.is_cache_enabled()))
        _autocast.set_for(self.device, enabled=self._enabled, dtype=self.fast_dtype)
        _autocast.enable_cache(self._cache_enabled)
        _autocast.nest(1)
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._before:
            raise AttributeError(
                "'autocast' object has no attribute 'prev': the end of a block that was not entered, or was left already"
            )
        before, cached = self._before.pop()
        if _autocast.nest(-1) == 0:
            _autocast.clear_cache()
        _autocast.enable_cache(cached)
        _autocast.set_for(self.device, **before._asdict())

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """``autocast_decorator(context, function)``: the function, called within the context.

    >>> import autograd_cy as ag
    >>> half = ag.amp.autocast_mode.autocast_decorator(ag.autocast("cpu", dtype=ag.float16), ag.mm)
    >>> half(ag.ones(1, 1), ag.ones(1, 1))
    tensor([[1.]], dtype=torch.float16)
    """

    @functools.wraps(func)
    def in_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return in_autocast


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """``@custom_fwd(device_type="cpu")`` above the forward of a Function: its backward, under custom_bwd, has its autocast.

    ``cast_inputs``: within autocast, forward runs without it, on tensors of that dtype.
    ValueError if device_type is no str.

    >>> import autograd_cy as ag
    >>> class Double(ag.autograd.Function):
    ...     @staticmethod
    ...     @ag.amp.custom_fwd(device_type="cpu", cast_inputs=ag.float32)
    ...     def forward(ctx, x):
    ...         return x * 2
    >>> with ag.autocast("cpu", dtype=ag.float16):
    ...     Double.apply(ag.ones(1, dtype=ag.float16))
    tensor([2.])
    """
    _check_str(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled, ctx._dtype = _autocast.setting(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if not enabled or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def _cast(value: Any, dtype: Any) -> Any:
    """A tensor, and those in mappings and iterables, in that dtype."""
    if isinstance(value, Tensor):
        return value.to(dtype) if _autocast.is_cast(value) else value
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {_cast(key, dtype): _cast(item, dtype) for key, item in value.items()}
    if isinstance(value, Iterable):
        items = [_cast(item, dtype) for item in value]
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """``@custom_bwd(device_type="cpu")`` above the backward of a Function: it runs with the autocast of its forward.

    ValueError if device_type is no str.

    >>> import autograd_cy as ag
    >>> ag.amp.custom_bwd(device_type="cpu")(abs).__name__
    'abs'
    """
    _check_str(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return backward


def _check_str(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
