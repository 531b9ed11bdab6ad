"""``torch.backends.mha``: a switch that nothing depends on (facade)."""

from typing import Any

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_is_fast = True


def get_fastpath_enabled() -> bool:
    """``get_fastpath_enabled()`` is what was set.

    >>> import autograd_cy as ag
    >>> ag.backends.mha.get_fastpath_enabled()
    True
    """
    return _is_fast


def set_fastpath_enabled(value: Any) -> None:
    """``set_fastpath_enabled(value)`` changes nothing but the answer.

    >>> import autograd_cy as ag
    >>> ag.backends.mha.set_fastpath_enabled(True)
    """
    global _is_fast
    _is_fast = bool(value)
