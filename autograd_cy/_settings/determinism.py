"""Settings of PyTorch that scripts make and read. They change nothing here, except that deterministic mode fills the memory
of `empty()` (facade). Imported when asked for."""

from .._core.arrays.unset import Filling
from .._core.runtime.entry import public
from .._core.runtime.once import warn_user

_DEBUG_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")
_debug_mode = 0
_warn_only = False
_precision = _PRECISIONS[0]


def _set_mode(mode: int, warn_only: bool) -> None:
    global _debug_mode, _warn_only
    _debug_mode, _warn_only, Filling.is_deterministic = mode, warn_only, mode > 0


@public
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """``use_deterministic_algorithms(True)`` lets `empty()` fill its memory: see `utils.deterministic`.

    It changes nothing else: each operation gives the same bits each time anyway.

    TypeError if an argument is no bool.

    >>> import autograd_cy as ag
    >>> ag.use_deterministic_algorithms(False)
    """
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(value, bool):
            raise TypeError(f"use_deterministic_algorithms(): argument '{name}' must be bool, not {type(value).__name__}")
    _set_mode((1 if warn_only else 2) if mode else 0, warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """``are_deterministic_algorithms_enabled()`` is the last argument of use_deterministic_algorithms().

    >>> import autograd_cy as ag
    >>> ag.are_deterministic_algorithms_enabled()
    False
    """
    return _debug_mode > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """``is_deterministic_algorithms_warn_only_enabled()`` is the warn_only of use_deterministic_algorithms().

    >>> import autograd_cy as ag
    >>> ag.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warn_only


@public
def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``set_deterministic_debug_mode(m)``: 0 or "default", 1 or "warn", 2 or "error"; as use_deterministic_algorithms().

    TypeError if it is neither int nor str, RuntimeError for another one.

    >>> import autograd_cy as ag
    >>> ag.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (*_DEBUG_MODES, 0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, or 0, 1, 2, but got {debug_mode}"
        )
    mode = _DEBUG_MODES.index(debug_mode) if isinstance(debug_mode, str) else int(debug_mode)
    _set_mode(mode, mode == 1)


def get_deterministic_debug_mode() -> int:
    """``get_deterministic_debug_mode()`` is 0, 1 (warn) or 2 (error).

    >>> import autograd_cy as ag
    >>> ag.get_deterministic_debug_mode()
    0
    """
    return _debug_mode


@public
def set_float32_matmul_precision(precision: str) -> None:
    """``set_float32_matmul_precision("high")`` is noted, and no more: float32 products are always computed in float32.

    Other values than "highest", "high" and "medium" give a warning and have no effect.

    >>> import autograd_cy as ag
    >>> ag.set_float32_matmul_precision("highest")
    """
    global _precision
    if precision in _PRECISIONS:
        _precision = precision
    else:
        warn_user(f"{precision} is not one of 'highest', 'high', or 'medium'; the call has no effect.")


def get_float32_matmul_precision() -> str:
    """``get_float32_matmul_precision()`` is the last argument of set_float32_matmul_precision().

    >>> import autograd_cy as ag
    >>> ag.get_float32_matmul_precision()
    'highest'
    """
    return _precision
