"""spawn: a function in several processes, and their first error (facade)."""

import multiprocessing
import multiprocessing.connection
import os
import pickle
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
    "start_processes",
]  # fmt: skip


class ProcessException(Exception):
    """A process failed: `error_index` says which, `error_pid` is its number."""

    def __init__(self, msg: str, error_index: int, pid: int):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process ended with an exception, whose traceback is in the message."""


class ProcessExitedException(ProcessException):
    """A process ended with an exit code or by a signal."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], error_file: str) -> None:
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent's
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """What ``spawn(..., join=False)`` returns: the processes, and ``join()``."""

    def __init__(self, processes: list[Any], error_files: list[str]):
        self.processes, self.error_files = processes, error_files
        self._folder = os.path.dirname(error_files[0]) if error_files else ""
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """``pids()``: the numbers of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """``join(timeout)``: whether all have ended; the error of the first that failed is raised, the others are ended."""
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout)
        failed = None
        for sentinel in ready:
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                failed = i
                break
        if failed is None:
            if not self.sentinels:
                shutil.rmtree(self._folder, ignore_errors=True)
            return not self.sentinels
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        error = self._error(failed)
        shutil.rmtree(self._folder, ignore_errors=True)
        raise error

    def _error(self, i: int) -> ProcessException:
        process = self.processes[i]
        if os.path.getsize(self.error_files[i]):
            with open(self.error_files[i], "rb") as file:
                text = pickle.load(file)
            return ProcessRaisedException(f"\n\n-- Process {i} terminated with the following error:\n{text}", i, process.pid)
        if process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            text = f"process {i} terminated with signal {name}"
            return ProcessExitedException(text, i, process.pid, process.exitcode, name)
        return ProcessExitedException(
            f"process {i} terminated with exit code {process.exitcode}", i, process.pid, process.exitcode
        )


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """``start_processes(f, args, nprocs)`` calls f(i, *args) in processes, i from 0; with join it waits for them.

    ProcessRaisedException has the traceback of the first that failed.
    """
    context = multiprocessing.get_context(start_method)
    folder = tempfile.mkdtemp()
    files, processes = [os.path.join(folder, str(i)) for i in range(nprocs)], []
    for i, error_file in enumerate(files):
        open(error_file, "wb").close()
        process = context.Process(target=_run, args=(fn, i, args, error_file), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        processes.append(process)
    started = ProcessContext(processes, files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """``spawn(f, args, nprocs)`` is start_processes(f, args, nprocs, start_method="spawn")."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
