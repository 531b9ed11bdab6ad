"""DataLoader: batches in this process and by workers, the same ones, whatever happens to a worker."""

import gc
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.utils import data
from autograd_cy.utils.data import _workers

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the datasets of these tests can't be sent to a process")
LARGE = _workers.SHARED_FROM // 8


class Rows(data.Dataset):
    """Sample i is filled with i; large enough that batches go through shared memory, if wanted."""

    def __init__(self, n, width=3):
        self.n, self.width = n, width

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return ag.full((self.width,), float(i)), i


class Numbered(data.IterableDataset):
    def __init__(self, n, divide=True):
        self.n, self.divide = n, divide

    def __len__(self):
        return self.n

    def __iter__(self):
        info = data.get_worker_info()
        if info is None or not self.divide:
            return iter(range(self.n))
        return iter(range(info.id, self.n, info.num_workers))


def shared_blocks():
    return {name for name in os.listdir("/dev/shm") if name.startswith("psm_")} if os.path.isdir("/dev/shm") else set()


@pytest.fixture(autouse=True)
def nothing_is_left():
    """No process and no shared block outlives a test."""
    import multiprocessing

    before = shared_blocks()
    yield
    gc.collect()  # a caught exception has frames
    deadline = time.monotonic() + 5
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not multiprocessing.active_children() and shared_blocks() <= before


def listed(loader):
    return [[part.tolist() for part in batch] for batch in loader]


@pytest.mark.parametrize("width", [3, LARGE])
@pytest.mark.parametrize("options", [{}, {"batch_size": 4}, {"batch_size": 4, "drop_last": True}, {"sampler": [3, 1, 8]}])
def test_workers_give_the_same_batches(width, options):
    dataset = Rows(10, width)
    alone = listed(data.DataLoader(dataset, **options))
    assert listed(data.DataLoader(dataset, num_workers=2, **options)) == alone
    assert len(data.DataLoader(dataset, **options)) == len(alone)


@pytest.mark.parametrize("workers", [0, 2])
def test_shuffled_by_the_seed(workers):
    def order(seed):
        generator = ag.Generator()
        generator.manual_seed(seed)
        loader = data.DataLoader(Rows(12), 3, shuffle=True, num_workers=workers, generator=generator)
        return [batch[1].tolist() for batch in loader]

    assert order(1) == order(1) != order(2) and sorted(itertools.chain(*order(1))) == list(range(12))


def test_a_tensor_dataset_is_read_by_batches():
    x, y = ag.arange(12.0).reshape(6, 2), ag.arange(6)
    whole = data.TensorDataset(x, y)
    part = data.Subset(data.Subset(whole, [5, 3, 1]), [0, 2])
    for dataset, numbers in ((whole, range(6)), (part, (5, 1))):
        batches = list(data.DataLoader(dataset, 4))
        assert [n for _, b in batches for n in b.tolist()] == list(numbers)
        assert all(ag.equal(rows, x[b]) for rows, b in batches) and type(batches[0]) is list
        batches[0][0].zero_()
        assert x[1, 1] == 3  # a batch has memory of its own


def test_single_samples_and_own_collate():
    assert [n for _, n in data.DataLoader(Rows(3), batch_size=None)] == [0, 1, 2]
    assert list(data.DataLoader(range(5), 2, collate_fn=sum)) == [1, 5, 4]
    assert list(data.DataLoader(range(5), batch_sampler=[[0, 4], [1]], collate_fn=tuple)) == [(0, 4), (1,)]


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_iterable_datasets(workers):
    got = [batch.tolist() for batch in data.DataLoader(Numbered(7), 2, num_workers=workers)]
    assert sorted(itertools.chain(*got)) == list(range(7))
    if workers < 2:
        assert got == [[0, 1], [2, 3], [4, 5], [6]]
    assert len(data.DataLoader(Numbered(7), 2)) == 4 and len(data.DataLoader(Numbered(7), 2, drop_last=True)) == 3
    assert [batch.tolist() for batch in data.DataLoader(Numbered(5), 2, drop_last=True)] == [[0, 1], [2, 3]]


def test_a_dataset_that_gives_more_than_it_said():
    loader = data.DataLoader(Numbered(4, divide=False), num_workers=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(1 for _ in loader) == 8  # len() was not called
    assert len(loader) == 4
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        assert sum(1 for _ in loader) == 8
    assert len(given) == 4  # for each that is too many
    assert re.search("reported to be 4 .* but 5 samples have been fetched", str(given[0].message))


def test_workers_that_persist():
    loader = data.DataLoader(Pids(4), num_workers=2, persistent_workers=True)
    first, second = ({int(pid) for pid in loader} for _ in range(2))
    assert first == second and len(first) == 2 and os.getpid() not in first
    for _ in loader:
        break  # a pass left early
    assert {int(pid) for pid in loader} == first
    del loader


class Pids(data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(0.005)
        return os.getpid()


def test_a_pass_left_early_ends_its_workers():
    iteration = iter(data.DataLoader(Rows(100, LARGE), num_workers=2))
    next(iteration)
    del iteration


class Draws(data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        info = data.get_worker_info()
        drawn = random.random(), ag.rand(()).item(), float(np.random.rand())  # noqa: NPY002
        return *drawn, info.id, info.seed, info.num_workers


def test_workers_have_seeds():
    def draws():
        ag.manual_seed(5)
        return listed(data.DataLoader(Draws(), num_workers=2))

    first = draws()
    assert first == draws()
    for a, b in zip(first[0][:3], first[1][:3], strict=True):
        assert a != b
    assert [batch[3] for batch in first] == [[0], [1]] and first[1][4][0] == first[0][4][0] + 1 and first[0][5] == [2]


class Asks(data.Dataset):
    """Which worker it is in, as `note_number` noted."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return os.environ["AUTOGRAD_CY_TEST_WORKER"]


def note_number(number):
    os.environ["AUTOGRAD_CY_TEST_WORKER"] = str(number)


def fail(number):
    return 1 / 0


def test_worker_init_fn():
    assert list(data.DataLoader(Asks(), num_workers=2, worker_init_fn=note_number)) == [["0"], ["1"]]
    with pytest.raises(ZeroDivisionError, match="DataLoader worker process 0"):
        list(data.DataLoader(Asks(), num_workers=1, worker_init_fn=fail))


class Strange(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class Fails(data.Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 2:
            raise self.error
        return i


@pytest.mark.parametrize(
    "error, raised", [(ValueError("bad sample"), ValueError), (KeyError("k"), KeyError), (Strange(1, 2), RuntimeError)]
)
def test_an_error_of_a_worker_has_its_traceback(error, raised):
    loader = data.DataLoader(Fails(error), num_workers=2)
    message = r"Caught \w+ in DataLoader worker process 0\.\nOriginal Traceback[\s\S]*__getitem__"
    with pytest.raises(raised, match=message) as caught:
        list(loader)
    assert "\\n" not in str(caught.value)
    with pytest.raises(type(error)):
        list(data.DataLoader(Fails(error)))
    error.__traceback__ = None  # it lives on as a parameter, and with it this frame


class Exits(data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 2:
            os._exit(7)
        return ag.zeros(LARGE * 2)


def test_a_worker_that_dies():
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly, with code 7"):
        list(data.DataLoader(Exits(), num_workers=2))


class Sleeps(data.Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, i):
        time.sleep(60)


def test_a_worker_that_hangs():
    iteration = iter(data.DataLoader(Sleeps(), num_workers=1, timeout=0.2))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.2 seconds"):
        next(iteration)
    for worker in iteration._workers:
        worker.process.kill()


def test_ctrl_c_ends_a_script_and_its_workers(tmp_path):
    program = tmp_path / "script.py"
    program.write_text(
        textwrap.dedent("""
            import os, signal, time
            import autograd_cy as ag

            signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

            class Slow(ag.utils.data.Dataset):
                def __len__(self):
                    return 1000
                def __getitem__(self, i):
                    time.sleep(0.01)
                    return os.getpid()

            for pid in ag.utils.data.DataLoader(Slow(), num_workers=2, multiprocessing_context="fork"):
                print(int(pid), flush=True)
        """)
    )
    with subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        workers = {int(process.stdout.readline()) for _ in range(4)}
        os.killpg(process.pid, signal.SIGINT)
        output = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in output[1] and output[1].count("Traceback") == 1
    for pid in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc to look whether a process is there")
def test_workers_end_when_their_parent_is_killed():
    program = "import autograd_cy as ag, sys, time, os\n" + textwrap.dedent("""
        class Slow(ag.utils.data.Dataset):
            def __len__(self):
                return 1000
            def __getitem__(self, i):
                time.sleep(0.01)
                return os.getpid()
        for pid in ag.utils.data.DataLoader(Slow(), num_workers=1, multiprocessing_context="fork"):
            print(int(pid), flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        worker = int(process.stdout.readline())
        process.kill()
        process.stdout.close()
    deadline = time.monotonic() + 10
    status = Path(f"/proc/{worker}/stat")
    while status.exists() and status.read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
        ({"prefetch_factor": -2, "num_workers": 1}, "prefetch_factor option should be positive"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
        ({"multiprocessing_context": "thread", "num_workers": 1}, "valid start method"),
        ({"shuffle": True, "sampler": [0]}, "mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "disables auto-batching"),
        ({"batch_size": 0}, "batch_size should be a positive integer"),
    ],
)
def test_refused_arguments(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        data.DataLoader(Rows(2), **options)


def test_refusals_of_iterable_datasets_and_of_changes():
    for options in ({"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}):
        with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified"):
            data.DataLoader(Numbered(2), **options)
    loader = data.DataLoader(Rows(2))
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 3
    with pytest.warns(UserWarning, match="'pin_memory' changes nothing"):
        data.DataLoader(Rows(2), pin_memory=True)
    with pytest.raises(ValueError, match="num_samples=0"):
        data.DataLoader(Rows(0), shuffle=True)


def test_workers_are_asked_as_processes_are():
    """Programs wait for PyTorch's `_workers` after they let go of an iterator."""
    iterator = iter(data.DataLoader(Rows(40), batch_size=2, num_workers=2))
    next(iterator)
    workers = iterator._workers[:]
    assert all(worker.is_alive() and worker.exitcode is None for worker in workers)
    assert len({os.getpid(), *(worker.pid for worker in workers)}) == 3
    del iterator
    for worker in workers:
        worker.join(10)
        assert not worker.is_alive() and worker.exitcode is not None
