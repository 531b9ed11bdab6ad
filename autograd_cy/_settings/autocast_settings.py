"""Settings of autocast, and what the build has (facade). Imported when asked for."""

import importlib
from types import ModuleType
from typing import Any

from .._compat import PACKAGE, answers
from .._core.arrays.dtypes import dtype as _dtype
from . import autocast, autocast_rules  # noqa: F401  (the import registers the rules)

has_lapack = has_spectral = True
has_openmp = False

set_flush_denormal, init_num_threads = answers.answers(False), answers.answers(None)


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """``is_autocast_enabled("cpu")`` is True within autocast("cpu").

    >>> import autograd_cy as ag
    >>> ag.is_autocast_enabled("cpu")
    False
    """
    return autocast.setting(_checked(device_type)).enabled


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_cpu_enabled()`` is ``is_autocast_enabled("cpu")``.

    >>> import autograd_cy as ag
    >>> ag.is_autocast_cpu_enabled()
    False
    """
    return is_autocast_enabled("cpu")


def get_autocast_dtype(device_type: str) -> Any:
    """``get_autocast_dtype("cpu")`` is the dtype that autocast takes: bfloat16 unless told otherwise, for "cuda" float16.

    >>> import autograd_cy as ag
    >>> ag.get_autocast_dtype("cuda")
    torch.float16
    """
    return autocast.setting(_checked(device_type)).dtype


def get_autocast_cpu_dtype() -> Any:
    """``get_autocast_cpu_dtype()`` is ``get_autocast_dtype("cpu")``.

    >>> import autograd_cy as ag
    >>> ag.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """``get_autocast_gpu_dtype()`` is ``get_autocast_dtype("cuda")``.

    >>> import autograd_cy as ag
    >>> ag.get_autocast_gpu_dtype()
    torch.float16
    """
    return get_autocast_dtype("cuda")


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """``set_autocast_enabled("cpu", True)`` enables autocast in this thread until it is disabled; one argument is for "cuda".

    >>> import autograd_cy as ag
    >>> ag.set_autocast_enabled("cpu", False)
    """
    name, on = ("cuda", device_type) if enabled is None else (_checked(device_type), enabled)
    if not isinstance(on, bool):
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' must be bool, not {type(on).__name__}")
    autocast.set_for(name, enabled=on)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_cpu_enabled(enabled)`` is ``set_autocast_enabled("cpu", enabled)``.

    >>> import autograd_cy as ag
    >>> ag.set_autocast_cpu_enabled(False)
    """
    set_autocast_enabled("cpu", enabled)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """``set_autocast_dtype("cpu", float16)``: the dtype of autocast in this thread. TypeError unless it is a dtype.

    >>> import autograd_cy as ag
    >>> ag.set_autocast_dtype("cpu", ag.bfloat16)
    """
    if not isinstance(dtype, _dtype):
        raise TypeError(f"set_autocast_dtype(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    autocast.set_for(_checked(device_type), dtype=dtype)


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """``set_autocast_cpu_dtype(dtype)`` is ``set_autocast_dtype("cpu", dtype)``.

    >>> import autograd_cy as ag
    >>> ag.set_autocast_cpu_dtype(ag.bfloat16)
    """
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """``set_autocast_gpu_dtype(dtype)`` is ``set_autocast_dtype("cuda", dtype)``.

    >>> import autograd_cy as ag
    >>> ag.set_autocast_gpu_dtype(ag.float16)
    """
    set_autocast_dtype("cuda", dtype)


def is_autocast_cache_enabled() -> bool:
    """``is_autocast_cache_enabled()``: whether autocast keeps the casts of weights.

    >>> import autograd_cy as ag
    >>> ag.is_autocast_cache_enabled()
    True
    """
    return autocast.is_cache_enabled()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """``set_autocast_cache_enabled(enabled)``: let autocast keep the casts of weights in this thread, or not.

    >>> import autograd_cy as ag
    >>> ag.set_autocast_cache_enabled(True)
    """
    autocast.enable_cache(bool(enabled))


def clear_autocast_cache() -> None:
    """``clear_autocast_cache()`` drops the casts that are kept.

    >>> import autograd_cy as ag
    >>> ag.clear_autocast_cache()
    """
    autocast.clear_cache()


def autocast_increment_nesting() -> int:
    """``autocast_increment_nesting()``: the casts that are kept stay until as many decrements; how many are due.

    >>> import autograd_cy as ag
    >>> ag.autocast_increment_nesting(), ag.autocast_decrement_nesting()
    (1, 0)
    """
    return autocast.nest(1)


def autocast_decrement_nesting() -> int:
    """``autocast_decrement_nesting()`` takes one autocast_increment_nesting() back; how many are left.

    >>> import autograd_cy as ag
    >>> ag.autocast_increment_nesting(), ag.autocast_decrement_nesting()
    (1, 0)
    """
    return autocast.nest(-1)


def _checked(device_type: str) -> str:
    """The type of a device; RuntimeError for other values."""
    from .._types import device

    return device_type if device_type in ("cpu", "cuda") else device(device_type).type


def get_device_module(device: Any = None) -> ModuleType:
    """``get_device_module("cuda")`` is torch.cuda; without an argument torch.cpu. RuntimeError for a device without one.

    >>> import autograd_cy as ag
    >>> ag.get_device_module() is ag.cpu
    True
    """
    from .._types import device as made

    kind = "cpu" if device is None else made(device).type
    try:
        return importlib.import_module(f"{PACKAGE}.{kind}")
    except ImportError:
        raise RuntimeError(f"Invalid device_module '{kind}': there is no module torch.{kind}") from None


answers.named(globals(), "this build has nothing to set there", "")
