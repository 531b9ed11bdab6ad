"""``torch.cuda`` for a package that is CPU only: what scripts ask before they choose a device (facade)."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = [
    "amp", "current_device", "current_stream", "device_count", "empty_cache", "get_device_name", "get_device_properties",
    "init", "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "seed", "seed_all", "set_device", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """``is_available()`` is False.

    >>> import autograd_cy as ag
    >>> "cuda" if ag.cuda.is_available() else "cpu"
    'cpu'
    """
    return False


def device_count() -> int:
    """``device_count()`` is 0.

    >>> import autograd_cy as ag
    >>> ag.cuda.device_count()
    0
    """
    return 0


def is_initialized() -> bool:
    """``is_initialized()`` is False: there is nothing to initialize.

    >>> import autograd_cy as ag
    >>> ag.cuda.is_initialized()
    False
    """
    return False


def empty_cache() -> None:
    """``empty_cache()`` does nothing: no memory of a device is kept. That of the CPU is given back by memory.empty_cache().

    >>> import autograd_cy as ag
    >>> ag.cuda.empty_cache()
    """


def manual_seed(seed: int) -> None:
    """``manual_seed(seed)`` does nothing: there is no device to seed.

    >>> import autograd_cy as ag
    >>> ag.cuda.manual_seed(0)
    """


def manual_seed_all(seed: int) -> None:
    """``manual_seed_all(seed)`` does nothing: there is no device to seed.

    >>> import autograd_cy as ag
    >>> ag.cuda.manual_seed_all(0)
    """


def seed() -> None:
    """``seed()`` does nothing: there is no device to seed.

    >>> import autograd_cy as ag
    >>> ag.cuda.seed()
    """


seed_all = seed


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """``is_bf16_supported()`` is False.

    >>> import autograd_cy as ag
    >>> ag.cuda.is_bf16_supported()
    False
    """
    return False


def memory_allocated(device: Any = None) -> int:
    """``memory_allocated()`` is 0, as is all other memory of a device that is not there.

    >>> import autograd_cy as ag
    >>> ag.cuda.max_memory_allocated()
    0
    """
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def _refused(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError(f"Torch not compiled with CUDA enabled: {name}() needs a device, this package is CPU only")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""``{name}()`` is an AssertionError: there is no device.

    >>> import autograd_cy as ag
    >>> try:
    ...     ag.cuda.{name}()
    ... except AssertionError as error:
    ...     print(str(error).partition(":")[0])
    Torch not compiled with CUDA enabled
    """
    return function


current_device, current_stream = _refused("current_device"), _refused("current_stream")
get_device_name, get_device_properties = _refused("get_device_name"), _refused("get_device_properties")
init, set_device, synchronize = _refused("init"), _refused("set_device"), _refused("synchronize")

if TYPE_CHECKING:
    from . import amp
else:  # where any name would be right

    def __getattr__(name: str) -> Any:
        if name == "amp":
            return importlib.import_module(f"{__name__}.amp")
        raise AttributeError(f"module 'autograd_cy.cuda' has no attribute {name!r}: this package is CPU only")
