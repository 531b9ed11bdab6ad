"""Case 6 of NOTE [Threads]: other Python threads run during a long kernel, and what may not be disturbed is not."""

import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from common import in_threads

import autograd_cy as ag

N = 4_000_000
ROWS = (4000, 1000)


@pytest.fixture
def counter() -> Iterator[list[int]]:
    """Counted up by a thread that runs only where another one lets go of the GIL."""
    count, done = [0], threading.Event()

    def work() -> None:
        while not done.is_set():
            count[0] += 1
            time.sleep(1e-4)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(100.0)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield count
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()


def norm(x: ag.Tensor) -> ag.Tensor:
    return ag.nn.functional.layer_norm(x, ROWS[1:])


FORWARD: dict[str, Callable[[ag.Tensor], object]] = {
    "elementwise": lambda x: x.exp(),
    "two operands": lambda x: x * x,
    "broadcast": lambda x: x * x[0],
    "transposed": lambda x: x.t() * 2.0,
    "in place": lambda x: x.mul_(1.0),
    "sum": lambda x: x.sum(),
    "sum of columns": lambda x: x.sum(0),
    "softmax": lambda x: x.softmax(1),
    "layer_norm": norm,
}


@pytest.mark.parametrize("name", FORWARD)
def test_other_threads_run_meanwhile(name: str, counter: list[int]) -> None:
    x = ag.ones(ROWS)
    assert runs_meanwhile(counter, lambda: FORWARD[name](x))


BACKWARD: dict[str, Callable[[ag.Tensor], ag.Tensor]] = {
    "elementwise": lambda x: x.tanh(),
    "broadcast": lambda x: ag.ones(ROWS) * x[0],
    "softmax": lambda x: x.softmax(1),
    "layer_norm": norm,
}


@pytest.mark.parametrize("name", BACKWARD)
def test_other_threads_run_meanwhile_in_backward(name: str, counter: list[int]) -> None:
    x = ag.ones(ROWS, requires_grad=True)
    y, seed = BACKWARD[name](x), ag.ones(ROWS)
    assert runs_meanwhile(counter, lambda: ag.autograd.grad(y, x, seed, retain_graph=True))


def runs_meanwhile(counter: list[int], work: Callable[[], object]) -> bool:
    """Whether it counts while `work` runs: asked more than once, for the system may have given the thread no time."""
    for _ in range(500):
        before = counter[0]
        work()
        if counter[0] > before:
            return True
    return False


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no GIL to keep")
@pytest.mark.parametrize("name", ["elementwise", "sum"])
def test_short_kernels_keep_the_gil(name: str, counter: list[int]) -> None:
    x = ag.ones(30, 100)
    before = counter[0]
    for _ in range(1000):
        FORWARD[name](x)
    assert counter[0] == before


def test_no_sum_is_lost_when_threads_accumulate_into_one_leaf() -> None:
    x = ag.zeros(N // 4, requires_grad=True)
    seed = ag.ones(N // 4)

    def work(_: int) -> None:
        for _ in range(20):
            (x * 1.0).backward(seed)

    in_threads(4, work)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), 80)


def test_operands_live_as_long_as_the_kernel() -> None:
    """x.data = ... in another thread gave up the array that a loop was reading."""
    x = ag.ones(N)
    done = threading.Event()

    def replace() -> None:
        while not done.is_set():
            x.data = ag.ones(N)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(20):
            assert float((x * 2.0)[-1]) == 2.0
    finally:
        done.set()
        thread.join()


def test_array_is_not_resized_under_a_kernel() -> None:
    array = np.ones(N)
    x = ag.from_numpy(array)
    refused: list[ValueError] = []

    def resize() -> None:
        for _ in range(100):
            try:
                array.resize(1)
            except ValueError as error:
                refused.append(error)

    thread = threading.Thread(target=resize)
    thread.start()
    for _ in range(10):
        assert float(x.exp()[-1]) == pytest.approx(np.e)
    thread.join()
    assert len(refused) == 100
