"""Modes as decorators: of functions, generators, coroutines and classes (facade)."""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar, cast, overload

from .._core.runtime.state import leave_mode, swap_modes

F = TypeVar("F", bound=Callable[..., Any])


class ModeDecorator:
    """A context manager and decorator. The decorated code runs in the mode, its caller in the caller's mode."""

    __slots__ = ()

    def __call__(self, function: F) -> F:
        return cast(F, self._decorated(function))

    def _decorated(self, function: Any) -> Any:
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated; it only decorates __init__. Decorate the methods instead.",
                FutureWarning,
                stacklevel=3,
            )
            function.__init__ = self(function.__init__)  # type: ignore[method-assign]
            return function
        if inspect.isgeneratorfunction(function):
            return _decorated_generator(self._fresh, function)
        if inspect.iscoroutinefunction(function):
            return _decorated_coroutine(self._fresh, function)
        if inspect.isasyncgenfunction(function):
            return _decorated_async_generator(self._fresh, function)

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self._fresh():
                return function(*args, **kwargs)

        return decorated

    def _fresh(self) -> Self:
        """A new mode object for each call, so that decorated functions can recurse and run in threads."""
        return type(self)()

    def __enter__(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no __enter__() of its own")

    def __exit__(self, error_type: type[BaseException] | None, error: BaseException | None, traceback: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no __exit__() of its own")


class ModeSwitch(ModeDecorator):
    """A mode that `mode=False` switches off; a decorator with and without parentheses. `bits` are the core's mode bits."""

    __slots__ = ("_previous", "mode")
    bits: ClassVar[int]
    _previous: object

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode

    def _fresh(self) -> Self:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._previous = swap_modes(self.bits, 0) if self.mode else swap_modes(0, self.bits)

    __exit__ = leave_mode


def _decorated_generator(mode: Callable[[], Any], function: Any) -> Any:
    """Run the generator's code in the mode, and restore the caller's mode at each yield."""

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, value = generator.send, None
        while True:
            try:
                with mode():
                    item = resume(value)
            except StopIteration as end:
                return end.value
            try:
                resume, value = generator.send, (yield item)
            except GeneratorExit:
                with mode():
                    generator.close()
                raise
            except BaseException as error:
                resume, value = generator.throw, error

    return decorated


def _decorated_coroutine(mode: Callable[[], Any], function: Any) -> Any:
    """Run the coroutine in the mode. It has a context of its own, or is part of its caller's."""

    @functools.wraps(function)
    async def decorated(*args: Any, **kwargs: Any) -> Any:
        with mode():
            return await function(*args, **kwargs)

    return decorated


def _decorated_async_generator(mode: Callable[[], Any], function: Any) -> Any:
    """Run an asynchronous generator in the mode, which is on while the generator awaits, too."""

    @functools.wraps(function)
    async def decorated(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, value = generator.asend, None
        while True:
            try:
                with mode():
                    item = await resume(value)
            except StopAsyncIteration:
                return
            try:
                resume, value = generator.asend, (yield item)
            except GeneratorExit:
                with mode():
                    await generator.aclose()
                raise
            except BaseException as error:
                resume, value = generator.athrow, error

    return decorated
