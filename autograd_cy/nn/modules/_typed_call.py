"""The type of a module's call, for checkers of types alone: what its ``forward`` takes and returns (facade)."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

_Forward = TypeVar("_Forward", covariant=True)


class _WithForward(Protocol[_Forward]):
    @property
    def forward(self) -> _Forward: ...


class CallOfForward:
    """What ``__call__`` of a module is declared as. Overloads and type variables of ``forward`` are kept."""

    @overload
    def __get__(self, module: None, owner: Any) -> Callable[..., Any]: ...
    @overload
    def __get__(self, module: _WithForward[_Forward], owner: Any) -> _Forward: ...
    def __get__(self, module: Any, owner: Any) -> Any: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Pyright looks no further where it needs a callable."""
