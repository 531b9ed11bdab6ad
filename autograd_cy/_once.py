"""Warnings that are given once in a process, unless set_warn_always() says otherwise (facade)."""

import warnings

_always = False
_given: set[str] = set()


def set_warn_always(b: bool) -> None:
    """``set_warn_always(True)``: what is by default warned of once in a process is warned of each time it happens.

    TypeError if b is not a bool.

    >>> import autograd_cy as ag
    >>> ag.set_warn_always(True)
    >>> ag.is_warn_always_enabled()
    True
    >>> ag.set_warn_always(False)
    """
    global _always
    if not isinstance(b, bool):
        raise TypeError(f"set_warn_always(): setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _always = b


def is_warn_always_enabled() -> bool:
    """``is_warn_always_enabled()`` is what set_warn_always() has set.

    >>> import autograd_cy as ag
    >>> ag.is_warn_always_enabled()
    False
    """
    return _always


def warn_once(message: str, stacklevel: int) -> None:
    """A UserWarning, if none with this text was given before."""
    if _always or message not in _given:
        _given.add(message)
        warnings.warn(message, UserWarning, stacklevel=stacklevel + 1)
