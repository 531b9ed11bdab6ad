"""``torch.multiprocessing`` over Python's (facade).

A Tensor that is sent to a process is moved into shared memory, and both write into the same elements. This holds for Python's
own queues and processes as well once this module is imported, or ``share_memory_()`` is called.
"""

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403
from typing import Any

from . import reductions as _reductions  # noqa: F401 - registers how tensors are sent
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    start_processes,
)
from .spawn import spawn as spawn

__all__ = [
    *_multiprocessing.__all__, "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """``get_all_sharing_strategies()`` is PyTorch's names for ways to share memory; it is done by descriptors of files.

    >>> import autograd_cy as ag
    >>> sorted(ag.multiprocessing.get_all_sharing_strategies())
    ['file_descriptor', 'file_system']
    """
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """``get_sharing_strategy()`` is what was set.

    >>> import autograd_cy as ag
    >>> ag.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """``set_sharing_strategy(name)`` changes nothing but the answer; AssertionError for a name that is none.

    >>> import autograd_cy as ag
    >>> ag.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"invalid sharing strategy: {new_strategy}")
    _strategy = new_strategy


def __getattr__(name: str) -> Any:
    return getattr(_multiprocessing, name)
