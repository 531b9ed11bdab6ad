"""Grad modes: whether operations are recorded (facade)."""

import functools
import inspect
import warnings

from .._core.state import is_grad_enabled, swap_grad_enabled

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


class _Mode:
    """A grad mode as context manager and as decorator, also of generator functions."""

    __slots__ = ("_previous",)

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated; it only decorates __init__. Decorate the methods instead.",
                FutureWarning,
                stacklevel=2,
            )
            function.__init__ = self(function.__init__)  # type: ignore[method-assign]
            return function
        if inspect.isgeneratorfunction(function):
            return self._decorate_generator(function)

        @functools.wraps(function)
        def decorated(*args, **kwargs):
            with self._fresh():
                return function(*args, **kwargs)

        return decorated

    def _decorate_generator(self, function):
        """Run the generator's own code in the mode, and the caller's between two items in the caller's."""

        @functools.wraps(function)
        def decorated(*args, **kwargs):
            generator = function(*args, **kwargs)
            resume, value = generator.send, None
            while True:
                try:
                    with self._fresh():
                        item = resume(value)
                except StopIteration as end:
                    return end.value
                try:
                    resume, value = generator.send, (yield item)
                except GeneratorExit:
                    with self._fresh():
                        generator.close()
                    raise
                except BaseException as error:
                    resume, value = generator.throw, error

        return decorated

    def _fresh(self):
        """A mode of its own for each call, so that decorated functions can recur and run in threads."""
        return type(self)()


class _FixedMode(_Mode):
    __slots__ = ()
    _enabled = False

    def __new__(cls, function=None):
        mode = super().__new__(cls)
        return mode if function is None else mode(function)

    def __init__(self, function=None):
        pass

    def __enter__(self):
        self._previous = swap_grad_enabled(self._enabled)

    def __exit__(self, *exception):
        swap_grad_enabled(self._previous)


class no_grad(_FixedMode):
    """``with no_grad():`` nothing is recorded in this thread; also ``@no_grad`` and ``@no_grad()``.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> with ag.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __slots__ = ()


class enable_grad(_FixedMode):
    """``with enable_grad():`` operations are recorded, also within no_grad; also a decorator.

    >>> import autograd_cy as ag
    >>> with ag.no_grad(), ag.enable_grad():
    ...     ag.is_grad_enabled()
    True
    """

    __slots__ = ()
    _enabled = True


class set_grad_enabled(_Mode):
    """``set_grad_enabled(mode)`` switches recording on or off at once; as a context manager, until its end.

    TypeError if mode is not a bool.

    >>> import autograd_cy as ag
    >>> with ag.set_grad_enabled(False):
    ...     ag.is_grad_enabled()
    False
    """

    __slots__ = ("mode",)

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'enabled' must be bool, not {type(mode).__name__}")
        self.mode = mode
        self._previous = swap_grad_enabled(mode)

    def __call__(self, function):
        swap_grad_enabled(self._previous)  # as a decorator it acts in the calls only
        return super().__call__(function)

    def _fresh(self):
        mode = object.__new__(set_grad_enabled)
        mode.mode = self.mode
        return mode

    def __enter__(self):
        previous = swap_grad_enabled(self.mode)
        if not hasattr(self, "_previous"):
            self._previous = previous

    def __exit__(self, *exception):
        swap_grad_enabled(self._previous)
