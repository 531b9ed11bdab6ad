"""record_function: a name for a part of a program (facade)."""

import contextlib
from types import TracebackType
from typing import Any

from .._core.recording.events import begin_region, end_region


class record_function(contextlib.ContextDecorator):
    """``with record_function(name)`` gives a block a name in profiles; as a decorator, each call of a function.

    `args` is a text that goes into the trace. Without a recording profiler, the cost is negligible. TypeError if the name
    is not a str.

    >>> from autograd_cy.profiler import profile, record_function
    >>> @record_function("two layers")
    ... def forward():
    ...     pass
    >>> with profile() as prof:
    ...     forward()
    ...     with record_function("loss"):
    ...         pass
    >>> [average.key for average in prof.key_averages()]
    ['two layers', 'loss']
    """

    def __init__(self, name: str, args: str | None = None):
        if not isinstance(name, str):
            raise TypeError(f"record_function: expected a str for the name, got {type(name).__name__}")
        self.name, self.args = name, args
        self._tokens: list[Any] = []

    def _recreate_cm(self) -> "record_function":  # each call of a decorated function, in each thread, has its own
        return record_function(self.name, self.args)

    def __enter__(self) -> "record_function":
        self._tokens.append(begin_region(self.name, self.args))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        end_region(self._tokens.pop())
