"""The type of a module's call, only for type checkers: the signature of its ``forward`` (facade)."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

_Forward = TypeVar("_Forward", covariant=True)


class _WithForward(Protocol[_Forward]):
    @property
    def forward(self) -> _Forward: ...


class CallOfForward:
    """The declared type of a module's ``__call__``. Overloads and type variables of ``forward`` are kept."""

    @overload
    def __get__(self, module: None, owner: Any) -> Callable[..., Any]: ...
    @overload
    def __get__(self, module: _WithForward[_Forward], owner: Any) -> _Forward: ...
    def __get__(self, module: Any, owner: Any) -> Any: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Pyright needs this method to accept a module as a callable."""
