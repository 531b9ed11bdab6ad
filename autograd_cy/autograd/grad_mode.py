"""Modes: whether operations are recorded, and how (facade).

A mode belongs to the context (`contextvars`) in which it was set: to one asyncio task, and to the tasks made within. A plain
generator shares its caller's context: suspended inside `with no_grad():` it leaves the mode on for its caller; decorated
with `@no_grad()` it doesn't. A new thread starts with the default modes, even in a copied context.
"""

from collections.abc import Callable
from typing import Any, Self, overload

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from .._core.runtime.state import (
    are_on as _are_on,
)
from .._core.runtime.state import (
    is_grad_enabled,
    is_inference_mode_enabled,
)
from .._core.runtime.state import (
    leave_mode as _leave_mode,
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
from .._core.writes.inplace import set_versions as _set_versions
from ._mode_decorator import F as _F
from ._mode_decorator import ModeDecorator as _ModeDecorator
from ._mode_decorator import ModeSwitch as _ModeSwitch

__all__ = [
    "enable_grad", "enforce_grad_layout_policy", "inference_mode", "is_grad_enabled", "is_inference",
    "is_inference_mode_enabled", "is_multithreading_enabled", "is_view_replay_enabled", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip

_NO_GRAD = _mode_bit("NO_GRAD")
_INFERENCE = _mode_bit("INFERENCE")
_ONE_THREAD = _mode_bit("ONE_THREAD")
_REPLAY_VIEWS = _mode_bit("REPLAY_VIEWS")
_ANY_LAYOUT = _mode_bit("ANY_LAYOUT")


class _FixedMode(_ModeDecorator):
    __slots__ = ("_previous",)
    _previous: object

    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: _F) -> _F: ...  # type: ignore[misc]
    def __new__(cls, function: _F | None = None) -> Any:
        mode = super().__new__(cls)
        return mode if function is None else mode(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        pass

    __exit__ = _leave_mode


class no_grad(_FixedMode):
    """``with no_grad():`` nothing is recorded in this context; also ``@no_grad`` and ``@no_grad()``.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> with ag.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __slots__ = ()

    def __enter__(self) -> None:
        self._previous = _swap_modes(_NO_GRAD, 0)


class enable_grad(_FixedMode):
    """``with enable_grad():`` operations are recorded, also within no_grad; also a decorator.

    >>> import autograd_cy as ag
    >>> with ag.no_grad(), ag.enable_grad():
    ...     ag.is_grad_enabled()
    True
    """

    __slots__ = ()

    def __enter__(self) -> None:
        self._previous = _swap_modes(0, _NO_GRAD)


class inference_mode(_ModeSwitch):
    """``with inference_mode():`` nothing is recorded, now or later: results are inference tensors.

    These can't be saved for backward. Outside of the mode they can't be written in place or made to require grad. They have
    no version counter. ``inference_mode(False)`` switches the mode off, and recording on. Also ``@inference_mode`` and
    ``@inference_mode()``.

    >>> import autograd_cy as ag
    >>> with ag.inference_mode():
    ...     y = ag.ones(2) * 2
    >>> y.is_inference(), y.requires_grad
    (True, False)
    """

    __slots__ = ()
    bits = _INFERENCE | _NO_GRAD


class _Switch(_ModeDecorator):
    """A mode that the constructor sets at once; as a context manager, until its end."""

    __slots__ = ("_entered", "_previous", "mode")
    _previous: object
    _bit = 0
    _on = True  # the value of `mode` that sets the bit

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"{type(self).__name__}(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = mode
        self._entered = True
        self._previous = self._swap()

    def _swap(self) -> Any:
        return _swap_modes(self._bit, 0) if self.mode is self._on else _swap_modes(0, self._bit)

    def __call__(self, function: _F) -> _F:
        _restore_modes(self._previous)  # as a decorator it is set only during calls
        self._previous = None
        return super().__call__(function)

    def _fresh(self) -> Self:
        mode = object.__new__(type(self))
        mode.mode, mode._entered = self.mode, False
        return mode

    def __enter__(self) -> None:
        if not self._entered:
            self._previous = self._swap()
        self._entered = False  # when it is entered again, it sets its mode again

    __exit__ = _leave_mode


class set_grad_enabled(_Switch):
    """``set_grad_enabled(mode)`` switches recording on or off at once; as a context manager, until its end.

    TypeError if mode is not a bool.

    >>> import autograd_cy as ag
    >>> with ag.set_grad_enabled(False):
    ...     ag.is_grad_enabled()
    False
    """

    __slots__ = ()
    _bit = _NO_GRAD
    _on = False


class set_multithreading_enabled(_Switch):
    """``set_multithreading_enabled(mode)``: whether backward may use other threads; also a context manager.

    Backward runs in the calling thread unless `set_num_interop_threads` or `parallel_backward` set more; gradients are the
    same. Queries of the execution order are refused unless this is off.

    >>> from autograd_cy import autograd
    >>> with autograd.set_multithreading_enabled(False):
    ...     autograd.is_multithreading_enabled()
    False
    """

    __slots__ = ()
    _bit = _ONE_THREAD
    _on = False


class _force_original_view_tracking(_Switch):
    """``_force_original_view_tracking(mode)``: a flag without effect: views are always recomputed from their base.

    >>> from autograd_cy import autograd
    >>> with autograd._force_original_view_tracking(True):
    ...     autograd.is_view_replay_enabled()
    True
    """

    __slots__ = ()
    _bit = _REPLAY_VIEWS


class enforce_grad_layout_policy(_Switch):
    """``enforce_grad_layout_policy(enable=True)``: whether a new `.grad` gets its tensor's strides.

    >>> from autograd_cy import autograd
    >>> with autograd.enforce_grad_layout_policy(False):
    ...     autograd.grad_mode._is_grad_layout_enforcement_enabled()
    False
    """

    __slots__ = ()
    _bit = _ANY_LAYOUT
    _on = False

    @_public
    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


def is_multithreading_enabled() -> bool:
    """is_multithreading_enabled() -> bool: whether backward may use other threads.

    >>> from autograd_cy import autograd
    >>> autograd.is_multithreading_enabled()
    True
    """
    return not _are_on(_ONE_THREAD)


def is_view_replay_enabled() -> bool:
    """is_view_replay_enabled() -> bool: the value set by _force_original_view_tracking().

    >>> from autograd_cy import autograd
    >>> autograd.is_view_replay_enabled()
    False
    """
    return _are_on(_REPLAY_VIEWS)


def _is_grad_layout_enforcement_enabled() -> bool:
    return not _are_on(_ANY_LAYOUT)


def is_inference(input: Tensor) -> bool:
    """is_inference(input) -> bool: whether the tensor was made in inference mode; TypeError for other objects.

    >>> import autograd_cy as ag
    >>> ag.is_inference(ag.ones(2))
    False
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"is_inference(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return input.is_inference()


class _unsafe_preserve_version_counter(_ModeDecorator):
    """``with _unsafe_preserve_version_counter(tensors):`` writes to a tensor, or a tuple of them, don't count.

    For code that frees the memory of a saved tensor and later restores the same values. Other uses give wrong gradients.
    AssertionError for other types than a tensor or a tuple.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2)
    >>> with ag.autograd._unsafe_preserve_version_counter(x):
    ...     y = x.mul_(3).div_(3)
    >>> x._version
    0
    """

    __slots__ = ("prev_versions", "tensors")

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError(f"Expected tensors to be a tuple, not {type(tensors).__name__}")
        self.prev_versions = tuple(t._version for t in self.tensors)

    def _fresh(self) -> Self:
        return type(self)(self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _set_versions(self.tensors, self.prev_versions)
