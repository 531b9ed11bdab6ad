"""How many threads run a backward. Imported when asked for."""

from .._core.engine.parallel_walk import engine_threads, set_engine_threads
from .._core.runtime.entry import public

MOST = 1024


def checked(name: str, n: int) -> int:
    """The number of threads, if it can be one."""
    if type(n) is not int:
        raise TypeError(f"{name} expects an int, but got {type(n).__name__}")
    if not 0 < n <= MOST:
        raise RuntimeError(f"{name} expects a positive integer" + (f", {MOST} at most" if n > MOST else ""))
    return n


@public
def set_num_interop_threads(n: int) -> None:
    """``set_num_interop_threads(n)``: a backward may run independent branches of its graph in n threads.

    1 is the default. The gradients have the same bits. It may be called at any time (in PyTorch once, and there forward
    alone runs in such threads). TypeError unless n is an int, RuntimeError unless it is from 1 to 1024. See
    `autograd.graph.parallel_backward`.

    >>> import autograd_cy as ag
    >>> ag.set_num_interop_threads(1)
    """
    set_engine_threads(checked("set_num_interop_threads", n))


def get_num_interop_threads() -> int:
    """``get_num_interop_threads()`` is the number of threads that may run a backward here.

    >>> import autograd_cy as ag
    >>> with ag.autograd.graph.parallel_backward(2):
    ...     ag.get_num_interop_threads()
    2
    """
    return engine_threads()
