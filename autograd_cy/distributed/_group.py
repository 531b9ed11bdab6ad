"""The group of processes, which is one process (facade)."""

import enum
import os
from typing import Any, NoReturn

__all__ = ["Backend", "GroupMember", "ProcessGroup", "ReduceOp", "Work", "group"]

_MISSING = "Default process group has not been initialized, please make sure to call init_process_group."


class ReduceOp(enum.IntEnum):
    """``ReduceOp.SUM``: how the tensors of all processes become one.

    >>> import autograd_cy as ag
    >>> ag.distributed.ReduceOp.SUM.name
    'SUM'
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


class Backend(str):
    """``Backend("gloo")`` is the name of what carries tensors between processes.

    >>> import autograd_cy as ag
    >>> ag.distributed.Backend("GLOO") == ag.distributed.Backend.GLOO
    True
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"

    def __new__(cls, name: str) -> "Backend":
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """The processes that compute together: one.

    >>> import autograd_cy as ag
    >>> ag.distributed.ProcessGroup().size()
    1
    """

    def __init__(self, backend: str = "gloo"):
        self.backend = Backend(backend)

    def rank(self) -> int:
        """``rank()``: 0."""
        return 0

    def size(self) -> int:
        """``size()``: 1."""
        return 1

    def name(self) -> str:
        """``name()``: what carries tensors."""
        return self.backend


class Work:
    """What a call with ``async_op=True`` returns: it is done already.

    >>> import autograd_cy as ag
    >>> ag.distributed.Work().wait()
    True
    """

    def wait(self, timeout: Any = None) -> bool:
        """``wait()``: True."""
        return True

    is_completed = is_success = wait

    def get_future(self) -> Any:
        """``get_future()``: a Future that is done."""
        from ..futures import Future

        future: Future[None] = Future()
        future.set_result(None)
        return future


class _Members(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before init_process_group."""
        return _state["world"]


class GroupMember(metaclass=_Members):
    """``GroupMember.WORLD`` is the group of all processes, None before init_process_group.

    >>> import autograd_cy as ag
    >>> ag.distributed.GroupMember.WORLD is None
    True
    """

    NON_GROUP_MEMBER = -100


group = GroupMember
_state: dict[str, ProcessGroup | None] = {"world": None}


def world(asked: Any = None) -> ProcessGroup:
    """The group that an argument names, or that of all processes; ValueError before init_process_group."""
    found = _state["world"]
    if found is None:
        raise ValueError(_MISSING)
    return asked if isinstance(asked, ProcessGroup) else found


def open_world(backend: str | None, init_method: str | None, world_size: int, rank: int, store: Any) -> None:
    """Make this process the group; NotImplementedError if there are to be others."""
    if _state["world"] is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if init_method is not None and not init_method.startswith("env://"):
        if world_size < 0 or rank < 0:
            raise ValueError(f"init_process_group(): rank and world_size are expected with init_method={init_method!r}")
    elif store is None:
        rank = _from_environment("RANK", rank)
        world_size = _from_environment("WORLD_SIZE", world_size)
    if world_size != 1 or rank != 0:
        raise NotImplementedError(
            f"init_process_group(): world_size={world_size}, rank={rank}: this package computes in one process (yet); "
            "world_size=1 and rank=0 are taken"
        )
    _state["world"] = ProcessGroup(backend or "gloo")


def _from_environment(name: str, given: int) -> int:
    if given >= 0:
        return given
    if name not in os.environ:
        raise ValueError(
            f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but not set"
        )
    return int(os.environ[name])


def close_world(asked: Any = None) -> None:
    """Give up the group of all processes, or a smaller one, of which nothing is kept."""
    if _state["world"] is None:
        raise AssertionError("Process group cannot be None")
    if asked is None or asked is _state["world"]:
        _state["world"] = None


def refuse_peer(*args: Any, **kwargs: Any) -> NoReturn:
    """The error of calls that need a second process."""
    world()
    raise ValueError("Invalid rank: there is one process, and no other to send to or to receive from")
