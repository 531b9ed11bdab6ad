"""torch.multiprocessing: Python's, with spawn of PyTorch's. Everything here holds for PyTorch, too."""

import multiprocessing
import os
import sys

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(params=["autograd_cy", "torch"])
def processes(request):
    pytest.importorskip(request.param)
    return pytest.importorskip(f"{request.param}.multiprocessing")


def put(i, queue):
    queue.put(i)


def fail(i):
    if i == 1:
        raise KeyError("lost")


def leave(i):
    os._exit(7)


def test_it_is_python_s(processes):
    for name in multiprocessing.__all__:
        assert hasattr(processes, name), name
    assert processes.get_sharing_strategy() in processes.get_all_sharing_strategies()
    processes.set_sharing_strategy("file_system")
    processes.set_sharing_strategy("file_descriptor")
    with pytest.raises(AssertionError):
        processes.set_sharing_strategy("by hand")


@pytest.mark.skipif(sys.platform == "win32", reason="starts by fork")
def test_processes_are_started(processes):
    queue = multiprocessing.get_context("fork").SimpleQueue()
    assert processes.start_processes(put, (queue,), nprocs=2, start_method="fork") is None
    assert sorted([queue.get(), queue.get()]) == [0, 1]
    context = processes.start_processes(put, (queue,), nprocs=1, join=False, start_method="fork")
    assert len(context.pids()) == 1
    while not context.join():
        pass
    assert context.join()


@pytest.mark.skipif(sys.platform == "win32", reason="starts by fork")
def test_errors_are_raised(processes):
    with pytest.raises(processes.ProcessRaisedException, match=r"(?s)Process 1 terminated with the following error.*lost"):
        processes.start_processes(fail, nprocs=2, start_method="fork")
    with pytest.raises(processes.ProcessExitedException, match="terminated with exit code 7") as caught:
        processes.start_processes(leave, nprocs=1, start_method="fork")
    assert (caught.value.exit_code, caught.value.error_index) == (7, 0)


def test_a_new_interpreter(processes):
    processes.spawn(fail, nprocs=1)
