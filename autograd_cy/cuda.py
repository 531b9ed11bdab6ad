"""``torch.cuda`` for a package that is CPU only: what scripts ask before they choose a device (facade)."""

from typing import TYPE_CHECKING, NoReturn

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]


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
