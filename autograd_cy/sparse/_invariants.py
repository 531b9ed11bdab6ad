"""The setting for checks of sparse tensors' arguments, which are always made here (facade)."""

import functools
from collections.abc import Callable
from typing import Any


class check_sparse_tensor_invariants:
    """``with check_sparse_tensor_invariants(enable=True):`` asks for checks of indices and sizes, which are always made here.

    >>> import autograd_cy as ag
    >>> with ag.sparse.check_sparse_tensor_invariants():
    ...     ag.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    _enabled = False

    @staticmethod
    def is_enabled() -> bool:
        """``is_enabled()``: the setting."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """``enable()`` sets it on."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """``disable()`` sets it off; the checks are made all the same."""
        check_sparse_tensor_invariants._enabled = False

    def __init__(self, enable: bool = True) -> None:
        self._state, self._saved = enable, False

    def __enter__(self) -> None:
        self._saved, check_sparse_tensor_invariants._enabled = self._enabled, self._state

    def __exit__(self, *error: object) -> None:
        check_sparse_tensor_invariants._enabled = self._saved

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._state):
                return function(*args, **kwargs)

        return wrapped
