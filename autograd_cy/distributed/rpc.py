"""``torch.distributed.rpc``: calls of other processes, which there are none (facade)."""

from .._compat import answers as _answers

__all__ = ["init_rpc", "is_available", "remote", "rpc_async", "rpc_sync", "shutdown"]

is_available = _answers.answers(False)
init_rpc = remote = rpc_async = rpc_sync = shutdown = _answers.refuses(
    NotImplementedError, "torch.distributed.rpc.{}: this package computes in one process (yet)"
)

_answers.named(globals(), "there is one process")
