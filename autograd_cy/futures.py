"""``torch.futures``: results that are there later, set by whoever computes them (facade)."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """``Future()`` is a result that one thread sets and others wait for.

    >>> import autograd_cy as ag
    >>> future = ag.futures.Future()
    >>> doubled = future.then(lambda done: 2 * done.value())
    >>> future.set_result(4)
    >>> doubled.wait()
    8
    """

    def __init__(self, *, devices: Any = None):
        self._lock = threading.Condition()
        self._is_done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """``done()``: whether there is a result or an error."""
        return self._is_done

    def wait(self) -> T:
        """``wait()``: the result, when it is there; the error is raised."""
        with self._lock:
            self._lock.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """``value()``: the result, which must be there; the error is raised."""
        if not self._is_done:
            raise RuntimeError("Cannot access value of an incomplete Future: wait() for it")
        if self._error is not None:
            raise self._error
        return self._result

    def set_result(self, result: T) -> None:
        """``set_result(result)``: once; whoever waits goes on, and callbacks run."""
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """``set_exception(error)``: raised by wait() and value()."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def add_done_callback(self, callback: Callable[["Future[T]"], Any]) -> None:
        """``add_done_callback(f)``: f(future) is called when the result is there, at once if it is."""
        with self._lock:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[["Future[T]"], Any]) -> "Future[Any]":
        """``then(f)``: a Future for f(this one), which runs when this one has its result."""
        following: Future[Any] = Future()

        def run(done: Future[T]) -> None:
            try:
                following.set_result(callback(done))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(run)
        return following

    def _finish(self, result: Any, error: BaseException | None) -> None:
        with self._lock:
            if self._is_done:
                raise RuntimeError("Future can only be marked completed once.")
            self._result, self._error, self._is_done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._lock.notify_all()
        for callback in callbacks:
            callback(self)


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """``collect_all(futures)`` is a Future for the list of them, done when all of them are.

    >>> import autograd_cy as ag
    >>> futures = [ag.futures.Future(), ag.futures.Future()]
    >>> together = ag.futures.collect_all(futures)
    >>> for future in futures:
    ...     future.set_result(1)
    >>> [future.value() for future in together.wait()]
    [1, 1]
    """
    together: Future[list[Future[Any]]] = Future()
    lock, remaining = threading.Lock(), len(futures)

    def count(_: Future[Any]) -> None:
        nonlocal remaining
        with lock:
            remaining -= 1
            is_last = remaining == 0
        if is_last:
            together.set_result(futures)

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        together.set_result([])
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """``wait_all(futures)`` is the list of their results; the first error is raised.

    >>> import autograd_cy as ag
    >>> future = ag.futures.Future()
    >>> future.set_result(3)
    >>> ag.futures.wait_all([future])
    [3]
    """
    return [future.wait() for future in collect_all(futures).wait()]
