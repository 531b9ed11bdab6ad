"""One pass of a DataLoader over its dataset, in this process or by workers (facade)."""

import copy
import itertools
import time
import warnings
import weakref
from collections.abc import Iterator
from multiprocessing import connection, resource_tracker
from typing import Any

from ._fetching import Fetcher
from ._seeds import drawn_seed
from ._workers import Ended, Failure, Job, discard, run_worker, unpack

_PATIENCE = 5.0  # seconds for a worker to end by itself
_NO_MORE = object()  # None asks an IterableDataset for a sample


class Iteration:
    """The batches of one pass; ``len()`` is the DataLoader's. Subclasses make the batches."""

    def __init__(self, loader: Any):
        self._loader = copy.copy(loader)
        self._loader._kept = None  # a loader keeps its workers, which must not keep the loader
        self._seed = drawn_seed(loader.generator)
        self._numbers: Iterator[Any] = iter(loader._index_sampler)
        self._yielded = 0

    def __iter__(self) -> "Iteration":
        return self

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __next__(self) -> Any:
        batch = self._next_batch()
        self._yielded += 1
        self._loader._check_count(self._yielded)
        return batch

    def _next_batch(self) -> Any:
        raise NotImplementedError


class SingleProcessIteration(Iteration):
    """Batches made on request."""

    def __init__(self, loader: Any):
        super().__init__(loader)
        self._fetch = Fetcher(*loader._fetcher_arguments)

    def _next_batch(self) -> Any:
        return self._fetch(next(self._numbers))


class _Worker:
    """A process, and this side's ends of its two pipes."""

    def __init__(self, context: Any, job: Job, seed: int):
        incoming, self.tasks = context.Pipe(duplex=False)
        self.results, outgoing = context.Pipe(duplex=False)
        self.process = context.Process(target=run_worker, args=(job, incoming, outgoing, seed), daemon=True)
        with warnings.catch_warnings():  # Python 3.12 warns of threads at a fork: ours hold no lock, and the child starts anew
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            self.process.start()
        incoming.close()
        outgoing.close()
        self.outstanding = 0
        self.has_ended = False

    def send(self, task: Any) -> None:
        self.tasks.send(task)

    # Programs use `_workers` of PyTorch's iterator as processes.

    @property
    def pid(self) -> int | None:
        return self.process.pid

    @property
    def exitcode(self) -> int | None:
        return self.process.exitcode

    def is_alive(self) -> bool:
        return self.process.is_alive()

    def join(self, timeout: float | None = None) -> None:
        self.process.join(timeout)

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()


def _shut_down(workers: list[_Worker], arrived: dict[int, Any]) -> None:
    """End processes, and remove the batches that they had prepared."""
    for answer in arrived.values():
        discard(answer)
    arrived.clear()
    for worker in workers:
        try:
            worker.send(None)
        except OSError:
            pass
    deadline = time.monotonic() + _PATIENCE
    for worker in workers:
        try:
            while worker.process.is_alive() and time.monotonic() < deadline:
                if worker.results.poll(0.01):
                    discard(worker.results.recv()[1])
            while worker.results.poll(0):
                discard(worker.results.recv()[1])
        except (EOFError, OSError):
            pass
        if worker.process.is_alive():
            worker.process.kill()
        worker.process.join()
        worker.tasks.close()
        worker.results.close()


class WorkersIteration(Iteration):
    """Batches that workers make ahead of time, a few each, in the order of their numbers (unless in_order is off)."""

    def __init__(self, loader: Any):
        super().__init__(loader)
        resource_tracker.ensure_running()  # one for all workers: it knows a worker's shared blocks after the worker has died
        job = Job(loader._fetcher_arguments, loader.worker_init_fn, 0, loader.num_workers)
        self._workers: list[_Worker] = []
        self._arrived: dict[int, Any] = {}  # what workers sent, by key
        self._close = weakref.finalize(self, _shut_down, self._workers, self._arrived)
        for number in range(loader.num_workers):
            self._workers.append(_Worker(loader._context, job._replace(number=number), self._seed))
        self._begin()

    def restart(self, loader: Any) -> None:
        """restart(loader) begins another pass with the same workers."""
        self._drain()
        super().__init__(loader)
        for worker in self._workers:
            worker.send(self._seed)
            worker.has_ended = False
        self._begin()

    def close(self) -> None:
        """close() ends the workers."""
        self._close()

    def _begin(self) -> None:
        self._sent, self._wanted = 0, 0  # keys of the next task and of the next batch
        self._owner: dict[int, _Worker] = {}  # by key
        self._turns = itertools.cycle(self._workers)
        for _ in range(self._loader.prefetch_factor * len(self._workers)):
            self._send_next()

    def _send_next(self) -> None:
        """Give the next numbers to the next worker that has not ended."""
        worker = next((w for w in itertools.islice(self._turns, len(self._workers)) if not w.has_ended), None)
        if worker is None:
            return
        numbers = next(self._numbers, _NO_MORE)
        if numbers is _NO_MORE:
            return
        worker.send((self._sent, numbers))
        worker.outstanding += 1
        self._owner[self._sent] = worker
        self._sent += 1

    def _next_batch(self) -> Any:
        try:
            while True:
                key = self._ready_key()
                if key is None:
                    self._receive()
                    continue
                answer = self._arrived.pop(key)
                if key == self._wanted:
                    self._wanted += 1
                if isinstance(answer, Ended):
                    continue
                self._send_next()
                if isinstance(answer, Failure):
                    answer.reraise()
                return unpack(answer)
        except StopIteration:
            if not self._loader.persistent_workers:
                self.close()
            raise

    def _ready_key(self) -> int | None:
        """The key of the next available batch; None if there is none yet. StopIteration after the last."""
        while self._loader.in_order and self._wanted < self._sent:
            if self._wanted in self._arrived:
                return self._wanted
            if self._wanted in self._owner:
                return None
            self._wanted += 1  # given to a worker that had ended
        if self._arrived:
            return next(iter(self._arrived))
        if not self._owner:
            raise StopIteration
        return None

    def _receive(self) -> None:
        """Wait for an answer from the workers."""
        ends = {worker.results: worker for worker in self._workers if worker.outstanding}
        sentinels = [worker.process.sentinel for worker in self._workers]
        ready = connection.wait([*ends, *sentinels], self._loader.timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._loader.timeout} seconds")
        found = False
        for end in ready:
            if end in ends:
                found = self._take(ends[end]) or found
        if not found:
            self._raise_for_dead()

    def _take(self, worker: _Worker) -> bool:
        """One answer of a worker; False if it was cut off."""
        try:
            key, answer = worker.results.recv()
        except (EOFError, ConnectionError):
            return False
        del self._owner[key]
        self._arrived[key] = answer
        worker.outstanding -= 1
        if isinstance(answer, Ended):
            worker.has_ended = True
            self._send_next()
        return True

    def _raise_for_dead(self) -> None:
        dead = [worker.process for worker in self._workers if not worker.process.is_alive()]
        if not dead:
            return  # its pipe is closed, and it is about to end
        pids = ", ".join(str(process.pid) for process in dead)
        codes = ", ".join(str(process.exitcode) for process in dead)
        self.close()
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly, with code {codes}")

    def _drain(self) -> None:
        """Receive and discard the answers that an abandoned pass requested."""
        while self._owner:
            self._receive()
        for answer in self._arrived.values():
            discard(answer)
        self._arrived.clear()
