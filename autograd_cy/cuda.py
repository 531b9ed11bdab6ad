"""``torch.cuda`` for a package that is CPU only: what scripts ask before they choose a device (facade)."""

from typing import TYPE_CHECKING, NoReturn

__all__ = ["device_count", "empty_cache", "is_available", "is_initialized", "manual_seed", "manual_seed_all"]

__path__: list[str] = []  # a package without modules: to import torch.cuda.amp is told what is missing


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


if not TYPE_CHECKING:  # else any name would be right

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(f"module 'autograd_cy.cuda' has no attribute {name!r}: this package is CPU only")
