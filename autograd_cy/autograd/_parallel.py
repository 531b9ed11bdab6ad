"""A backward in several threads (facade)."""

from typing import Any

from .._core.engine.parallel_walk import enter_parallel, leave_parallel
from .._core.runtime.entry import public
from .._settings.backward_threads import checked
from ._mode_decorator import ModeDecorator


class parallel_backward(ModeDecorator):
    """``with parallel_backward(n):`` a backward may run independent branches of its graph in n threads; also a decorator.

    It starts in the calling thread, and uses more threads when nodes take long enough. Gradients are bitwise equal to a
    backward in one thread, and errors are the same. Threads help where nodes release the GIL: matrix products, long
    loops, a Function that waits. Hooks and Functions of different branches may run at the same time, each in a copy of
    the caller's context. Nodes that draw random numbers, or use saved-tensor hooks (so checkpoints), keep their order.
    create_graph, vmap, forward mode, profilers and hooks on all operations always use one thread, and so does everything
    under ``set_multithreading_enabled(False)``.

    TypeError unless n is an int, RuntimeError unless it is from 1 to 1024.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> with ag.autograd.graph.parallel_backward(2):
    ...     (x * 2 + x * 3).sum().backward()
    >>> x.grad
    tensor([5., 5.])
    """

    __slots__ = ("_tokens", "n")

    @public
    def __init__(self, n: int):
        self.n = checked("parallel_backward", n)
        self._tokens: list[Any] = []

    def _fresh(self) -> "parallel_backward":
        return parallel_backward(self.n)

    def __enter__(self) -> None:
        self._tokens.append(enter_parallel(self.n))

    def __exit__(self, error_type: Any, error: Any, traceback: Any) -> None:
        leave_parallel(self._tokens.pop())
