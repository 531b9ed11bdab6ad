"""Warnings that are issued once per process, unless set_warn_always() says otherwise."""

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]
_always = False
_given: set[str] = set()


def set_warn_always(b: bool) -> None:
    """``set_warn_always(True)``: issue each time the warnings that are issued only once per process by default.

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
    """``is_warn_always_enabled()`` returns the value from set_warn_always().

    >>> import autograd_cy as ag
    >>> ag.is_warn_always_enabled()
    False
    """
    return _always


def warn_once(message: str, kind: str = "") -> None:
    """A UserWarning at the calling line of the user's code, unless one with this text or of this kind was issued before."""
    if _always or (kind or message) not in _given:
        _given.add(kind or message)
        warnings.warn(message, UserWarning, stacklevel=_level_of_user())


def warn_user(message: str) -> None:
    """A UserWarning at the calling line of the user's code, each time."""
    warnings.warn(message, UserWarning, stacklevel=_level_of_user())


def _level_of_user() -> int:
    """The stack level, relative to the caller, of the first frame outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__package__")).partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    return level


def warn_of_lost_imaginary_part() -> None:
    """The warning of a cast from complex numbers to real ones."""
    warn_once("Casting complex values to real discards the imaginary part")
