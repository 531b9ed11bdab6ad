"""``torch.cpu``: the questions that torch.cuda answers, for the CPU (facade)."""

import contextlib
from typing import Any

from .._compat import answers as _answers
from . import amp

__all__ = [
    "Event", "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count", "get_capabilities",
    "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip

is_available = is_initialized = _answers.answers(True)
device_count = _answers.answers(1)
current_device = _answers.answers("cpu")
set_device = synchronize = _answers.answers(None)
get_capabilities = _answers.answers(dict[str, Any]())


class Event:
    """``Event()`` has happened as soon as it is recorded: calls on the CPU are done when they return.

    >>> import autograd_cy as ag
    >>> ag.cpu.Event().query()
    True
    """

    def query(self) -> bool:
        """``query()``: True."""
        return True

    def record(self, stream: Any = None) -> None:
        """``record()`` does nothing."""

    synchronize = wait = record


class Stream:
    """``Stream()`` is the order of calls, of which there is one on a CPU.

    >>> import autograd_cy as ag
    >>> ag.cpu.Stream().record_event().query()
    True
    """

    def __init__(self, priority: int = -1):
        pass

    def wait_stream(self, stream: Any) -> None:
        """``wait_stream(other)`` does nothing."""

    wait_event = wait_stream

    def record_event(self, event: Event | None = None) -> Event:
        """``record_event()``: an Event."""
        return event or Event()


_current = Stream()


def current_stream(device: Any = None) -> Stream:
    """``current_stream()`` is the one Stream.

    >>> import autograd_cy as ag
    >>> ag.cpu.current_stream() is ag.cpu.current_stream("cpu")
    True
    """
    return _current


class StreamContext(contextlib.AbstractContextManager[None]):
    """``with StreamContext(stream):`` changes nothing.

    >>> import autograd_cy as ag
    >>> with ag.cpu.StreamContext(ag.cpu.Stream()):
    ...     pass
    """

    def __init__(self, stream: Stream | None):
        self.stream = stream

    def __exit__(self, *exception: object) -> None:
        pass


def stream(stream: Stream | None) -> StreamContext:
    """``with stream(s):`` changes nothing.

    >>> import autograd_cy as ag
    >>> with ag.cpu.stream(ag.cpu.Stream()):
    ...     pass
    """
    return StreamContext(stream)


_answers.named(globals(), "tensors are on the CPU")
