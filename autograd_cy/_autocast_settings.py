"""Settings of autocast, which changes nothing here, and what the build has (facade). Imported when asked for."""

import importlib
from types import ModuleType
from typing import Any

from . import _answers
from ._names import bfloat16, float16

__all__ = [
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_cpu_dtype",
    "get_autocast_dtype", "get_autocast_gpu_dtype", "get_device_module", "has_lapack", "has_openmp", "has_spectral",
    "init_num_threads", "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled",
    "set_autocast_gpu_dtype", "set_flush_denormal",
]  # fmt: skip

has_lapack = has_spectral = True
has_openmp = False

is_autocast_cache_enabled = _answers.answers(True)
is_autocast_cpu_enabled = set_flush_denormal = _answers.answers(False)
autocast_increment_nesting, autocast_decrement_nesting = _answers.answers(1), _answers.answers(0)
get_autocast_cpu_dtype, get_autocast_gpu_dtype = _answers.answers(bfloat16), _answers.answers(float16)
clear_autocast_cache = init_num_threads = set_autocast_cache_enabled = set_autocast_cpu_dtype = _answers.answers(None)
set_autocast_cpu_enabled = set_autocast_dtype = set_autocast_enabled = set_autocast_gpu_dtype = clear_autocast_cache


def get_autocast_dtype(device_type: str) -> Any:
    """``get_autocast_dtype("cpu")`` is the dtype that PyTorch would take: bfloat16, for "cuda" float16.

    >>> import autograd_cy as ag
    >>> ag.get_autocast_dtype("cuda")
    torch.float16
    """
    return float16 if device_type == "cuda" else bfloat16


def get_device_module(device: Any = None) -> ModuleType:
    """``get_device_module("cuda")`` is torch.cuda; without an argument torch.cpu. RuntimeError for a device without one.

    >>> import autograd_cy as ag
    >>> ag.get_device_module() is ag.cpu
    True
    """
    from ._size import device as made

    kind = "cpu" if device is None else made(device).type
    try:
        return importlib.import_module(f"{__package__}.{kind}")
    except ImportError:
        raise RuntimeError(f"Invalid device_module '{kind}': there is no module torch.{kind}") from None


_answers.named(globals(), "autocast changes nothing here", "")
