"""NOTE [Threads]: the same bits for any number of threads, and no harm to small tensors, forks and callers."""

import multiprocessing
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.threads import has_openmp, set_kernel_threads

needs_openmp = pytest.mark.skipif(not has_openmp(), reason="a build without OpenMP")
SHAPE = (300, 517)  # above the size from which threads are used, and no multiple of anything


@pytest.fixture(autouse=True)
def same_threads_afterwards() -> Iterator[None]:
    before = ag.get_num_threads()
    yield
    set_kernel_threads(before)


def leaves(dtype: ag.dtype = ag.float32) -> list[ag.Tensor]:
    random = np.random.default_rng(3)
    values = [random.standard_normal(shape) for shape in (SHAPE, SHAPE, SHAPE[1:], (SHAPE[0], 1))]
    return [ag.tensor(value, dtype=dtype, requires_grad=True) for value in values]


PROGRAMS: dict[str, Callable[..., ag.Tensor]] = {
    "contiguous": lambda a, b, row, column: (a * b).tanh() + a.exp().sin(),
    "broadcast": lambda a, b, row, column: (a + row) * column / (b * b + 1.0),
    "transposed": lambda a, b, row, column: a.t() * b.t() + column.t(),
    "sliced": lambda a, b, row, column: a[::2, 1:] * b[::2, :-1].sigmoid(),
    "expanded": lambda a, b, row, column: row.expand(SHAPE) * column.expand(SHAPE),
    "numbers": lambda a, b, row, column: 0.5 * a * (1.0 + b),
    "sums": lambda a, b, row, column: (a * row).sum(0) + (a * column).sum(1, True) + a.sum(),
    "accumulated": lambda a, b, row, column: a * 2.0 + a * 3.0 + a * b,
}


NORMALIZING: dict[str, Callable[..., ag.Tensor]] = {
    "softmax": lambda a, b, row, column: a.softmax(1) * b,
    "softmax of columns": lambda a, b, row, column: a.softmax(0) * b,
    "log_softmax": lambda a, b, row, column: a.log_softmax(-1) * b,
    "layer_norm": lambda a, b, row, column: ag.nn.functional.layer_norm(a, SHAPE[1:], row, row) * b,
}


@needs_openmp
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.complex64], ids=str)
@pytest.mark.parametrize("name", [*PROGRAMS, *NORMALIZING])
def test_bits_do_not_depend_on_the_number_of_threads(name: str, dtype: ag.dtype) -> None:
    if name in NORMALIZING and dtype == ag.complex64:
        pytest.skip("of real numbers only")
    program = (PROGRAMS | NORMALIZING)[name]
    results = []
    for n in (1, 2, 3, 7):
        set_kernel_threads(n)
        inputs = leaves(dtype)
        y = program(*inputs)
        y.backward(ag.ones_like(y))
        results.append([y.detach().numpy(), *(x.grad.numpy() for x in inputs if x.grad is not None)])
    for other in results[1:]:
        for first, again in zip(results[0], other, strict=True):
            assert first.tobytes() == again.tobytes()


@needs_openmp
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_child_works_after_a_parallel_region() -> None:
    set_kernel_threads(2)
    expected = total()
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as workers:
        assert workers.map_async(call_total, range(4)).get(timeout=60) == [expected] * 4
    assert total() == expected


def total() -> float:
    return float((ag.ones(SHAPE) * 2.0).tanh().sum())


def call_total(_: int) -> float:
    return total()


def test_number_must_be_positive() -> None:
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer, got 0"):
        ag.set_num_threads(0)


@pytest.mark.parametrize("value", [1.0, "2", None, True])
def test_number_must_be_an_int(value: object) -> None:
    with pytest.raises(TypeError, match="set_num_threads expects an int, but got"):
        ag.set_num_threads(value)  # type: ignore[arg-type]


def test_set_number_is_the_one_that_is_got() -> None:
    set_kernel_threads(1)
    assert ag.get_num_threads() == 1


def test_without_threadpoolctl_a_warning_says_what_was_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with pytest.warns(UserWarning, match="install threadpoolctl"):
        ag.set_num_threads(ag.get_num_threads())


def test_blas_follows() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    with threadpoolctl.threadpool_limits(limits=None):
        ag.set_num_threads(1)
        assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"} <= {1}
