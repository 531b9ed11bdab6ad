"""``torch.distributed`` of one process (facade).

Before init_process_group it says what PyTorch says. ``init_process_group(world_size=1, rank=0)`` makes this process the group,
and each collective operation is what it is in a group of one: sums are their only term. More processes are an error.
"""

import copy
import datetime
import os
from collections.abc import Sequence
from typing import Any

from .._compat import answers as _answers
from .._compat import names_later as _names_later
from ..autograd.grad_mode import no_grad
from . import _group
from ._group import Backend, GroupMember, ProcessGroup, ReduceOp, Work, group

__all__ = [
    "Backend", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "GroupMember", "ProcessGroup",
    "ReduceOp", "Work", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "broadcast", "broadcast_object_list",
    "default_pg_timeout", "destroy_process_group", "gather", "gather_object", "get_backend", "get_debug_level",
    "get_global_rank", "get_group_rank", "get_node_local_rank", "get_process_group_ranks", "get_rank", "get_world_size",
    "group", "init_device_mesh", "init_process_group", "irecv", "is_available", "is_backend_available",
    "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched",
    "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group", "recv", "recv_object_list",
    "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
    "send_object_list",
]  # fmt: skip

default_pg_timeout = datetime.timedelta(minutes=30)
reduce_op = ReduceOp

is_available = is_gloo_available = _answers.answers(True)
is_nccl_available = is_mpi_available = is_ucc_available = is_xccl_available = _answers.answers(False)
get_debug_level = _answers.answers(0)
init_device_mesh = _answers.refuses(NotImplementedError, "torch.distributed.{}: this package computes in one process (yet)")
send = recv = isend = irecv = send_object_list = recv_object_list = _group.refuse_peer


class DistError(RuntimeError):
    """What goes wrong between processes."""


class DistBackendError(DistError):
    """What goes wrong in what carries tensors."""


class DistNetworkError(DistError):
    """What goes wrong in the network."""


class DistStoreError(DistError):
    """What goes wrong in the store that processes share."""


def is_initialized() -> bool:
    """``is_initialized()`` is whether there is a group: between init_process_group and destroy_process_group."""
    return GroupMember.WORLD is not None


def is_torchelastic_launched() -> bool:
    """``is_torchelastic_launched()`` is whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_backend_available(backend: str) -> bool:
    """``is_backend_available("gloo")`` is True, for any other name False."""
    return backend.lower() == "gloo"


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """``init_process_group(world_size=1, rank=0)`` makes this process the group; they may stand in WORLD_SIZE and RANK.

    ValueError if they stand nowhere, and for a second group; NotImplementedError for more processes.
    """
    _group.open_world(backend, init_method, world_size, rank, store)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """``destroy_process_group()`` gives up the group."""
    _group.close_world(group)


def new_group(ranks: Any = None, *args: Any, **kwargs: Any) -> ProcessGroup:
    """``new_group([0])`` is a group of this process."""
    found = _group.world()
    if ranks is not None and list(ranks) != [0]:
        raise ValueError(f"new_group(): ranks {list(ranks)} are not those of this group: [0]")
    return ProcessGroup(found.backend)


def get_rank(group: ProcessGroup | None = None) -> int:
    """``get_rank()`` is 0."""
    return _group.world(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """``get_world_size()`` is 1."""
    return _group.world(group).size()


def get_backend(group: ProcessGroup | None = None) -> str:
    """``get_backend()`` is what init_process_group was given, "gloo" by default."""
    return _group.world(group).backend


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """``get_process_group_ranks(None)`` is [0]."""
    return [_group.world(group).rank()]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """``get_global_rank(group, 0)`` is 0."""
    _group.world(group)
    return _checked(group_rank)


get_group_rank = get_global_rank


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """``get_node_local_rank()`` is LOCAL_RANK of the environment, else what is given."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank")
    return int(fallback_rank)


def barrier(group: ProcessGroup | None = None, async_op: bool = False, *args: Any, **kwargs: Any) -> Work | None:
    """``barrier()`` waits for all processes: for none."""
    return _done(group, async_op)


def monitored_barrier(group: ProcessGroup | None = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """``monitored_barrier()`` waits for all processes: for none."""
    _done(group, False)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """``all_reduce(t)`` leaves the tensor as it is: it is the only term of the sum."""
    return _done(group, async_op)


all_reduce_coalesced = all_reduce


def reduce(tensor: Any, dst: int | None = None, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:  # fmt: skip
    """``reduce(t, dst=0)`` leaves the tensor as it is."""
    _checked(dst, group_dst)
    return _done(group, async_op)


def broadcast(tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:  # fmt: skip
    """``broadcast(t, src=0)`` leaves the tensor as it is."""
    _checked(src, group_src)
    return _done(group, async_op)


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
                          group_src: int | None = None) -> None:  # fmt: skip
    """``broadcast_object_list(objects, src=0)`` leaves the list as it is."""
    _checked(src, group_src)
    _done(group, False)


def all_gather(tensor_list: Sequence[Any], tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """``all_gather([t], x)`` writes x into t."""
    return _written(tensor_list, [tensor], group, async_op)


def all_gather_into_tensor(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """``all_gather_into_tensor(t, x)`` writes x into t."""
    return _written([output_tensor], [input_tensor.view(output_tensor.shape)], group, async_op)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """``all_gather_object([None], x)`` puts x into the list."""
    _done(group, False)
    object_list[0] = copy.deepcopy(obj)


def gather(tensor: Any, gather_list: Sequence[Any] | None = None, dst: int | None = None, group: Any = None,
           async_op: bool = False, group_dst: int | None = None) -> Work | None:  # fmt: skip
    """``gather(x, [t], dst=0)`` writes x into t."""
    _checked(dst, group_dst)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return _written(gather_list, [tensor], group, async_op)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
                  group_dst: int | None = None) -> None:  # fmt: skip
    """``gather_object(x, [None], dst=0)`` puts x into the list."""
    _checked(dst, group_dst)
    if not object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    all_gather_object(object_gather_list, obj, group)


def scatter(tensor: Any, scatter_list: Sequence[Any] | None = None, src: int | None = None, group: Any = None,
            async_op: bool = False, group_src: int | None = None) -> Work | None:  # fmt: skip
    """``scatter(t, [x], src=0)`` writes x into t."""
    _checked(src, group_src)
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    return _written([tensor], scatter_list, group, async_op)


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: Any = None, group_src: int | None = None) -> None:  # fmt: skip
    """``scatter_object_list([None], [x], src=0)`` puts x into the first list."""
    _checked(src, group_src)
    _done(group, False)
    scatter_object_output_list[0] = (scatter_object_input_list or [None])[0]


def reduce_scatter(output: Any, input_list: Sequence[Any], op: Any = ReduceOp.SUM, group: Any = None,
                   async_op: bool = False) -> Work | None:  # fmt: skip
    """``reduce_scatter(t, [x])`` writes x into t."""
    return _written([output], input_list, group, async_op)


def reduce_scatter_tensor(output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None,
                          async_op: bool = False) -> Work | None:  # fmt: skip
    """``reduce_scatter_tensor(t, x)`` writes x into t."""
    return _written([output], [input.view(output.shape)], group, async_op)


def all_to_all(output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None,
               async_op: bool = False) -> Work | None:  # fmt: skip
    """``all_to_all([t], [x])`` writes x into t."""
    return _written(output_tensor_list, input_tensor_list, group, async_op)


def all_to_all_single(output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None,
                      group: Any = None, async_op: bool = False) -> Work | None:  # fmt: skip
    """``all_to_all_single(t, x)`` writes x into t."""
    return _written([output], [input], group, async_op)


def _checked(*ranks: int | None) -> int:
    """The rank, which is 0 in a group of one."""
    for rank in ranks:
        if rank not in (None, 0):
            raise RuntimeError(f"invalid root rank: {rank}: there is one process, of rank 0")
    return 0


def _done(group: Any, async_op: bool) -> Work | None:
    _group.world(group)
    return Work() if async_op else None


def _written(targets: Sequence[Any], sources: Sequence[Any], group: Any, async_op: bool) -> Work | None:
    work = _done(group, async_op)
    if len(targets) != 1 or len(sources) != 1:
        raise ValueError(f"there is one process, but {max(len(targets), len(sources))} tensors")
    with no_grad():
        targets[0].copy_(sources[0])
    return work


_answers.named(globals(), "there is one process")
__getattr__, __dir__ = _names_later(__name__, {"distributed_c10d": (), "rpc": ()})
