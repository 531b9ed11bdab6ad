"""The profiler's reactions to changes of its action between steps, and to a finished trace."""

import os
import socket
import time
from collections.abc import Callable
from typing import Any

from ._schedule import ProfilerAction

_NONE, _WARMUP, _RECORD, _SAVE = (
    ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE,
)  # fmt: skip
_PREPARE, _START, _STOP, _READY, _WRONG = "prepare_trace", "start_trace", "stop_trace", "_trace_ready", "wrong"

# The methods to call, by the action before and after; after the last step that is None. "wrong" is a warning.
TRANSITIONS: dict[tuple[ProfilerAction, ProfilerAction | None], tuple[str, ...]] = {
    (_NONE, _WARMUP): (_PREPARE,),
    (_NONE, _RECORD): (_PREPARE, _START),
    (_NONE, _SAVE): (_PREPARE, _START),
    (_WARMUP, _NONE): (_WRONG, _START, _STOP),
    (_WARMUP, _RECORD): (_START,),
    (_WARMUP, _SAVE): (_START,),
    (_WARMUP, None): ("_abandon",),
    (_RECORD, _NONE): (_WRONG, _STOP),
    (_RECORD, _WARMUP): (_WRONG, _STOP, _PREPARE),
    (_RECORD, None): (_STOP, _READY),
    (_SAVE, _NONE): (_STOP, _READY),
    (_SAVE, _WARMUP): (_STOP, _READY, _PREPARE),
    (_SAVE, _RECORD): (_STOP, _READY, _PREPARE, _START),
    (_SAVE, _SAVE): (_STOP, _READY, _PREPARE, _START),
    (_SAVE, None): (_STOP, _READY),
}


def always_record(step: int) -> ProfilerAction:
    """The default schedule."""
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """``tensorboard_trace_handler(folder)`` is an on_trace_ready that writes each cycle as a trace into a folder.

    A file is called worker.time.pt.trace.json, with .gz if `use_gzip`; the worker is host_process unless it has a name.
    RuntimeError if the folder can't be made.

    >>> import os, tempfile
    >>> from autograd_cy.profiler import profile, tensorboard_trace_handler
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with profile(on_trace_ready=tensorboard_trace_handler(folder, "me")):
    ...         pass
    ...     [name.split(".")[0] for name in os.listdir(folder)]
    ['me']
    """

    def write(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write
