"""Anomaly mode: finds the forward call of a failed backward, and the origin of NaN (facade).

Like all modes it belongs to the context in which it was set, and to its thread.
"""

import warnings
from typing import Any

from .._core.runtime.entry import public as _public
from .._core.runtime.state import (
    are_on as _are_on,
)
from .._core.runtime.state import (
    mode_bit as _mode_bit,
)
from .._core.runtime.state import (
    restore_modes as _restore_modes,
)
from .._core.runtime.state import (
    swap_modes as _swap_modes,
)
from ._mode_decorator import ModeDecorator as _ModeDecorator

__all__ = [
    "detect_anomaly", "detect_nan", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled",
    "set_detect_anomaly",
]  # fmt: skip

_ANOMALY = _mode_bit("ANOMALY")
_KEEP_NAN = _mode_bit("KEEP_NAN")
_DETECT_NAN = _mode_bit("DETECT_NAN")


def is_anomaly_enabled() -> bool:
    """is_anomaly_enabled() -> bool: whether anomaly mode is on in this context.

    >>> import autograd_cy as ag
    >>> ag.is_anomaly_enabled()
    False
    """
    return _are_on(_ANOMALY)


def is_anomaly_check_nan_enabled() -> bool:
    """is_anomaly_check_nan_enabled() -> bool: whether anomaly mode, when it is on, looks for NaN.

    >>> import autograd_cy as ag
    >>> ag.is_anomaly_check_nan_enabled()
    True
    """
    return not _are_on(_KEEP_NAN)


@_public
def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """set_anomaly_enabled(enabled, check_nan=True): switch anomaly mode on or off; TypeError unless bool.

    >>> import autograd_cy as ag
    >>> ag.set_anomaly_enabled(False)
    """
    _swap(enabled, check_nan)


def _swap(enabled: bool, check_nan: bool) -> Any:
    """Set the mode, and return a token that restores the previous one."""
    for position, (name, value) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not {type(value).__name__}"
            )
    on = (_ANOMALY if enabled else 0) | (0 if check_nan else _KEEP_NAN)
    return _swap_modes(on, (_ANOMALY | _KEEP_NAN) & ~on)


class detect_anomaly:
    """``with detect_anomaly(check_nan=True):`` errors in backward name the forward call of the operation.

    The traceback is a note on the exception and a warning, as in PyTorch; double backward has one for each level. With
    check_nan a NaN in a gradient or in the loss raises RuntimeError.

    Each recorded operation keeps its traceback, which takes microseconds. detect_nan() only looks for NaN, and is cheap.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> x = ag.tensor([-1.0], requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"), ag.autograd.detect_anomaly():
    ...     try:
    ...         ag.where(x > 0, ag.sqrt(x), 0.0).sum().backward()
    ...     except RuntimeError as error:
    ...         print(str(error).partition(":")[0])
    Function 'SqrtBackward0' returned nan values in its 0th output
    """

    __slots__ = ("_previous", "check_nan")

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._previous = _swap(True, self.check_nan)

    def __exit__(self, *exception: object) -> None:
        _restore_modes(self._previous)
        self._previous = None


class set_detect_anomaly:
    """``set_detect_anomaly(mode, check_nan=True)`` switches anomaly mode on or off at once; as a context, until its end.

    >>> import autograd_cy as ag
    >>> with ag.autograd.set_detect_anomaly(True):
    ...     ag.is_anomaly_enabled()
    True
    """

    __slots__ = ("_previous",)

    @_public
    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._previous = _swap(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _restore_modes(self._previous)
        self._previous = None


class detect_nan(_ModeDecorator):
    """``with detect_nan():`` the first recorded operation or gradient with a NaN result raises RuntimeError.

    The message names the operation, the output, the position, and special values in the inputs (zeros, inf). It searches
    each result, but keeps no traceback. Also a decorator.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([1.0, -1.0], requires_grad=True)
    >>> with ag.autograd.detect_nan():
    ...     try:
    ...         x.log().sum().backward()
    ...     except RuntimeError as error:
    ...         print(str(error).partition(";")[0])
    Log (recorded as LogBackward0) returned nan values in its 0th output, at [1] in torch.float32 [2]
    """

    __slots__ = ("_previous",)

    def __enter__(self) -> None:
        self._previous = _swap_modes(_DETECT_NAN, 0)

    def __exit__(self, *exception: object) -> None:
        _restore_modes(self._previous)
        self._previous = None
