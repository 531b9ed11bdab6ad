"""NOTE [Pool]: large results reuse the memory of dead ones, and their arrays look like any other."""

import gc
import multiprocessing
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from common import measures_memory

import autograd_cy as ag
from autograd_cy._core.graph.tensor import array_of
from autograd_cy.memory import empty_cache, memory_stats, set_cache_limit

LARGE = 1 << 20  # elements of float32: 4 MB


@pytest.fixture(autouse=True)
def clean_pool() -> Iterator[None]:
    before = set_cache_limit(1 << 30)
    empty_cache()
    yield
    set_cache_limit(before)
    empty_cache()


def doubled(n: int = LARGE) -> ag.Tensor:
    return ag.ones(n) * 2.0


# case 1: any other ndarray


def test_result_owns_its_memory() -> None:
    array = array_of(doubled())
    assert array.flags.owndata and array.base is None and array.flags.writeable
    assert array.ctypes.data % 64 == 0


def test_array_outlives_its_tensor() -> None:
    kept = doubled().numpy()
    others = [doubled() for _ in range(4)]
    others[0].fill_(7.0)
    assert (kept == 2.0).all()


def test_array_can_be_resized_by_its_owner() -> None:
    array = array_of(doubled())
    array.resize(2 * LARGE, refcheck=False)
    assert (array[:LARGE] == 2.0).all() and (array[LARGE:] == 0.0).all()


def test_gradients_share_no_memory_with_later_results() -> None:
    x = ag.ones(LARGE, requires_grad=True)
    (x * 3.0).sum().backward()
    for _ in range(5):
        doubled().fill_(9.0)
    assert (x.grad.numpy() == 3.0).all()


def test_small_results_leave_the_pool_alone() -> None:
    before = memory_stats()
    doubled(100)
    after = memory_stats()
    assert (after["hits"], after["misses"]) == (before["hits"], before["misses"])


# case 2: which block serves


def test_block_of_a_dead_array_serves_the_next_of_its_size() -> None:
    y = doubled()
    address = y.data_ptr()
    hits = memory_stats()["hits"]
    del y
    assert doubled().data_ptr() == address
    assert memory_stats()["hits"] == hits + 1


def test_block_much_larger_than_the_request_is_not_used() -> None:
    y = doubled(4 * LARGE)
    address = y.data_ptr()
    del y
    assert doubled(LARGE).data_ptr() != address


def test_used_and_kept_never_exceed_the_peak_of_use() -> None:
    """In a process of its own: the peak is that of the whole process."""
    code = f"""
import autograd_cy as ag
for n in ({LARGE}, {LARGE // 2}, {LARGE // 3}, {LARGE}, {LARGE // 5}):
    ag.ones(n) * 2.0
    stats = ag.memory.memory_stats()
    assert 0 < stats["used_bytes"] + stats["kept_bytes"] <= stats["peak_bytes"] * 1.13, stats
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# case 3: the limit


def test_limit_zero_switches_the_pool_off() -> None:
    set_cache_limit(0)
    misses = memory_stats()["misses"]
    doubled()
    assert memory_stats()["misses"] == misses
    assert memory_stats()["kept_bytes"] == 0


def test_block_taken_before_the_pool_was_switched_off_is_freed() -> None:
    y = doubled()
    set_cache_limit(0)
    del y
    assert memory_stats()["kept_bytes"] == 0


def test_no_more_than_the_limit_is_kept() -> None:
    set_cache_limit(5 * LARGE)
    results = [doubled() for _ in range(4)]
    del results
    assert 0 < memory_stats()["kept_bytes"] <= 5 * LARGE


def test_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a number of bytes >= 0, got -1"):
        set_cache_limit(-1)


def test_empty_cache_gives_everything_back() -> None:
    doubled()
    assert memory_stats()["kept_bytes"] > 0
    empty_cache()
    assert memory_stats()["kept_bytes"] == 0


TRIMMED = """
import autograd_cy as ag
def resident():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) * 1024
arrays = [ag.ones(15_000) for _ in range(2000)]     # 60 kB each: not from the pool
arrays = arrays[::100]                              # freed between living ones
before = resident()
ag.memory.empty_cache()
print(before - resident())
"""


@measures_memory
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_trim is glibc's")
def test_empty_cache_gives_back_what_malloc_keeps() -> None:
    """In a process of its own, that other tests' memory doesn't count."""
    run = subprocess.run([sys.executable, "-c", TRIMMED], check=True, capture_output=True, text=True)
    assert int(run.stdout) > 60_000_000  # of 120 MB


# case 4: threads, forks, exit


def test_threads_get_blocks_of_their_own() -> None:
    wrong = []

    def work(value: float) -> None:
        for _ in range(50):
            y = ag.ones(LARGE // 8) * value
            if not (y.numpy() == value).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_child_has_a_pool_of_its_own() -> None:
    doubled()
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as workers:
        assert workers.apply(child_sum) == 2.0 * LARGE
    assert float(doubled().sum()) == 2.0 * LARGE


def child_sum() -> float:
    return float(doubled().sum())


def test_arrays_alive_at_exit_do_no_harm() -> None:
    code = "import sys, autograd_cy as ag; sys.kept = (ag.ones(1 << 20) * 2.0).numpy(); y = ag.ones(1 << 20) * 2.0"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_used_when_all_is_dead() -> None:
    gc.collect()
    before = memory_stats()["used_bytes"]
    x = ag.ones(LARGE, requires_grad=True)
    (x * 3.0).tanh().sum().backward()
    del x
    gc.collect()
    assert memory_stats()["used_bytes"] == before
