"""Processes that make batches (facade).

Each has two pipes to the DataLoader: tasks go in, batches come out. The memory of a large batch does not go through a pipe but
stands in a shared block, which the receiver copies and removes; so no block outlives the process that reads it.
"""

import io
import multiprocessing
import os
import pickle
import queue
import random
import signal
import threading
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any, NamedTuple

import numpy as np

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..._settings.threads import limit_threads
from ...multiprocessing.reductions import _refuse_history
from ...random import manual_seed
from ._fetching import Fetcher

SHARED_FROM = 1 << 16  # bytes: larger batches are put into a shared block
_WATCH = 1.0  # seconds between checks that the parent is alive


@dataclass(frozen=True)
class WorkerInfo:
    """The properties of a worker: its number, the number of workers, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_current: WorkerInfo | None = None


@public
def get_worker_info() -> WorkerInfo | None:
    """``get_worker_info()`` -> the WorkerInfo of the calling worker; None in the main process.

    >>> import autograd_cy as ag
    >>> ag.utils.data.get_worker_info() is None
    True
    """
    return _current


class Failure:
    """An exception of a worker, to be raised again in the main process with the worker's traceback in its text."""

    def __init__(self, error: BaseException, where: str):
        self._kind = RuntimeError if isinstance(error, StopIteration) else type(error)  # StopIteration would end the epoch
        self._name, self._where = type(error).__name__, where
        self._text = "".join(traceback.format_exception(error))

    def reraise(self) -> None:
        """reraise() raises it, in the same class if that takes a text."""
        text = f"Caught {self._name} in {self._where}.\nOriginal {self._text}"
        if self._kind is KeyError:
            raise KeyError(_Text(text))
        try:
            error = self._kind(text)
        except Exception:
            raise RuntimeError(text) from None
        try:
            raise error
        finally:
            del error  # its traceback holds this frame, and so the iteration, whose end stops the workers


class _Text(str):
    """A text with a legible repr, which KeyError shows."""

    def __repr__(self) -> str:
        return str(self)


class Ended:
    """Sent instead of a batch when a worker's IterableDataset has ended."""


class Packed(NamedTuple):
    """A pickled object with its arrays' memory apart: in a shared block, or, if it is small, next to it."""

    pickled: bytes
    sizes: list[int]
    block: str | bytes


class _Pickler(pickle.Pickler):
    """Refuses tensors with history: their graph would be lost."""

    def reducer_override(self, value: Any) -> Any:
        return _reduced(value) if isinstance(value, Tensor) else NotImplemented


def _reduced(tensor: Tensor) -> Any:
    _refuse_history(tensor)
    return tensor.__reduce_ex__(5)


def pack(value: Any) -> Packed:
    """pack(value) -> it, ready for a pipe."""
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, buffer_callback=buffers.append).dump(value)
    pickled = stream.getvalue()
    views = [buffer.raw() for buffer in buffers]
    sizes = [view.nbytes for view in views]
    if sum(sizes) < SHARED_FROM:
        return Packed(pickled, sizes, b"".join(views))
    block = SharedMemory(create=True, size=sum(sizes))
    memory: Any = block.buf
    position = 0
    for view in views:
        memory[position : position + view.nbytes] = view
        position += view.nbytes
    del memory
    block.close()
    return Packed(pickled, sizes, block.name)


def unpack(packed: Packed) -> Any:
    """unpack(packed) -> the object, with its own memory; the shared block is removed."""
    if isinstance(packed.block, bytes):
        data = bytearray(packed.block)
    else:
        data = _taken(packed)
    view, buffers, position = memoryview(data), [], 0
    for size in packed.sizes:
        buffers.append(view[position : position + size])
        position += size
    return pickle.loads(packed.pickled, buffers=buffers)


def _taken(packed: Packed) -> bytearray:
    """The bytes of a shared block, which is removed."""
    block: Any = SharedMemory(packed.block)  # type: ignore[arg-type]
    try:
        return bytearray(block.buf[: sum(packed.sizes)])
    finally:
        block.close()
        block.unlink()


def discard(packed: Any) -> None:
    """discard(packed) removes the shared block of an unused batch."""
    if isinstance(packed, Packed) and isinstance(packed.block, str):
        _taken(packed._replace(sizes=[]))


class Job(NamedTuple):
    """The arguments of a worker."""

    fetcher: tuple[Any, ...]  # the arguments of Fetcher
    init: Any
    number: int
    workers: int


def _tasks(connection: Connection) -> "queue.SimpleQueue[Any]":
    """A queue that a thread fills from a pipe at once, so that the sender never waits; the process ends with its parent."""
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    parent = multiprocessing.parent_process()

    def take() -> None:
        try:
            while True:
                while not connection.poll(_WATCH):
                    if parent is not None and not parent.is_alive():
                        os._exit(1)
                arrived.put(connection.recv())
        except (EOFError, OSError):
            arrived.put(None)

    threading.Thread(target=take, daemon=True).start()
    return arrived


def run_worker(job: Job, tasks: Connection, results: Connection, seed: int) -> None:
    """run_worker(job, tasks, results, seed) makes batches until it is told to stop: the main function of a worker.

    A task is `(key, numbers)`, and the answer `(key, batch)`; a seed starts another epoch; None ends the worker. The main
    process handles Ctrl-C, and ends its workers.
    """
    global _current
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_threads(1)
    where = f"DataLoader worker process {job.number}"
    arrived, fetcher = _tasks(tasks), None
    epoch: Any = seed
    while epoch is not None:
        failure = None
        try:
            _current = WorkerInfo(job.number, job.workers, epoch + job.number, job.fetcher[0])
            _seed(_current.seed)
            if fetcher is None and job.init is not None:
                job.init(job.number)
            fetcher = Fetcher(*job.fetcher)
        except Exception as error:
            failure = Failure(error, where)
        epoch = _work(arrived, results, fetcher, failure, where)


def _work(arrived: Any, results: Connection, fetcher: Any, failure: Failure | None, where: str) -> Any:
    """Answer the tasks of an epoch; returns the message after it: a seed or None."""
    while isinstance(task := arrived.get(), tuple):
        key, numbers = task
        answer: Any = failure
        if failure is None:
            try:
                answer = _answer(fetcher, numbers)
            except Exception as error:
                answer = Failure(error, where)
        try:
            results.send((key, answer))
        except (BrokenPipeError, ConnectionResetError):
            discard(answer)
            return None
    return task


def _answer(fetcher: Any, numbers: Any) -> Any:
    """The batch of these numbers, packed."""
    try:
        batch = fetcher(numbers)
    except StopIteration:
        return Ended()
    return pack(batch)


def _seed(seed: int) -> None:
    """Seed the random generators of a worker."""
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - datasets written for PyTorch use it
