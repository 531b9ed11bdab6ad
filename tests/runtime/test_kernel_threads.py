"""NOTE [Threads]: the same bits for any number of threads, and no harm to small tensors, forks and callers."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from common import in_threads
from op_calls import Call, run_backward, samples_of, to_numpy
from op_case import Sample, map_arrays
from opinfo import ELEMENTWISE, REDUCTIONS

import autograd_cy as ag
from autograd_cy._core.parallel.threads import has_threads, is_held_to_one, set_kernel_threads, usual_threads

needs_threads = pytest.mark.skipif(not has_threads(), reason="a build without threads")
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
    "variances": lambda a, b, row, column: (a - a.mean(0)) / a.std(0) + b.var(1, keepdim=True) + a.norm() + b.var(),
    "accumulated": lambda a, b, row, column: a * 2.0 + a * 3.0 + a * b,
}


CLASSES = ag.from_numpy(np.arange(SHAPE[0]) * 7 % SHAPE[1])
CLASSES[::5] = -100


def entropy(*args: ag.Tensor, **options: str) -> ag.Tensor:
    return ag.nn.functional.cross_entropy(*args, reduction="none", **options)


NORMALIZING: dict[str, Callable[..., ag.Tensor]] = {
    "softmax": lambda a, b, row, column: a.softmax(1) * b,
    "softmax of columns": lambda a, b, row, column: a.softmax(0) * b,
    "log_softmax": lambda a, b, row, column: a.log_softmax(-1) * b,
    "cross_entropy": lambda a, b, row, column: entropy(a, CLASSES) * column.t(),
    "cross_entropy of columns": lambda a, b, row, column: entropy(a.t().contiguous().unsqueeze(0), CLASSES.unsqueeze(0)),
    "cross_entropy, added": lambda a, b, row, column: a.sum(1) + entropy(a, CLASSES) + (a * b).sum(1),
    "layer_norm": lambda a, b, row, column: ag.nn.functional.layer_norm(a, SHAPE[1:], row, row) * b,
}


@needs_threads
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


@needs_threads
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.complex64, ag.int64], ids=str)
def test_batches_of_products_have_the_same_bits(dtype: ag.dtype) -> None:
    random = np.random.default_rng(4)
    values = [random.integers(-9, 10, shape) / 8 for shape in ((13, 31, 57), (13, 57, 37))]
    results = []
    for n in (1, 2, 3, 7):
        set_kernel_threads(n)
        a, b = (ag.tensor(value, dtype=dtype, requires_grad=dtype.is_floating_point) for value in values)
        y = a @ b
        found = [y.detach().numpy()]
        if y.requires_grad:
            found += [g.numpy() for g in ag.autograd.grad(y, (a, b), y.detach())]
        results.append([array.tobytes() for array in found])
    assert results[1:] == results[:1] * 3
    if dtype.is_floating_point:  # eighths: nothing is rounded
        np.testing.assert_array_equal(found[0], np.matmul(*values))


SHAPES = [(150, 100, 67), (64, 300, 70), (1, 1000, 300), (300, 1000, 1), (128, 32, 128), (17, 900, 40), (700, 20, 51)]


@needs_threads
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.complex64, ag.int64], ids=str)
@pytest.mark.parametrize("batch", [1, 3])
def test_large_products_have_the_same_numbers(dtype: ag.dtype, batch: int) -> None:
    random = np.random.default_rng(5)
    for m, n, p in SHAPES:
        # eighths: nothing is rounded, in whatever order it is added up
        a, b = (random.integers(-4, 5, (batch, *shape)) for shape in ((m, n), (n, p)))
        a, b = (x if dtype == ag.int64 else x / 8 for x in (a, b))
        y = np.matmul(a, b)
        for threads in (1, 2, 7):
            set_kernel_threads(threads)
            left = ag.tensor(a, dtype=dtype)
            for right in (ag.tensor(b, dtype=dtype), ag.tensor(b.swapaxes(1, 2).copy(), dtype=dtype).transpose(1, 2)):
                np.testing.assert_array_equal((left @ right).numpy(), y)
                np.testing.assert_array_equal((left[0] @ right[0]).numpy(), y[0])


def threads_of_blas() -> set[int]:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"}


@needs_threads
def test_blas_has_its_threads_again_after_products_of_several_callers() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    set_kernel_threads(2)
    with threadpoolctl.threadpool_limits(limits=2):
        if not is_held_to_one():
            pytest.skip("a BLAS with one thread, or none that can be told how many")
        x = ag.randn(256, 256)
        y = x @ x.exp()
        in_threads(4, lambda number: [np.testing.assert_allclose(x @ x.exp(), y, rtol=1e-3) for _ in range(50)])
        assert threads_of_blas() == {2}
    with threadpoolctl.threadpool_limits(limits=1):
        assert not is_held_to_one()
        x @ x.exp()
        assert threads_of_blas() == {1}


@needs_threads
def test_nothing_holds_blas_where_kernels_have_one_thread() -> None:
    set_kernel_threads(1)
    assert not is_held_to_one()


DTYPES = [ag.bool, ag.uint8, ag.int16, ag.int32, ag.int64, ag.float16, ag.float32, ag.float64, ag.complex64, ag.complex128]


@needs_threads
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_large_copies_are_copies(dtype: ag.dtype, n: int) -> None:
    """Of contiguous elements, of strided and reversed ones, of one that is repeated, of short runs."""
    set_kernel_threads(n)
    x = (np.random.default_rng(5).standard_normal(400_000) * 100).astype(dtype.numpy_dtype)
    for array in (x, x[5:-7], x[::3], x[::-1], np.broadcast_to(x[1], (300, 700)), x.reshape(-1, 500)[:, ::2]):
        copy = ag.from_numpy(array).clone().numpy()
        np.testing.assert_array_equal(copy, array)
        assert not np.shares_memory(copy, array)


def cases(rows: list) -> list:
    dtypes = ("float32", "complex64")
    return [pytest.param(row, d, id=f"{row.name}-{d}") for row in rows for d in dtypes if d in row.dtypes + row.forward]


def results_by_threads(row, dtype: str, sample: Sample) -> list[list[bytes]]:
    found = []
    for n in (1, 2, 3, 4):
        set_kernel_threads(n)
        call = Call(row, sample)
        if dtype in row.dtypes:
            _, outputs, _, gradients = run_backward(call)
        else:
            outputs, gradients = call(*call.leaves()), []
        found.append([to_numpy(y).tobytes() for y in (*outputs, *gradients)])
    return found


@needs_threads
@pytest.mark.parametrize("row, dtype", cases(ELEMENTWISE))
def test_each_elementwise_operation_has_the_same_bits(row, dtype: str) -> None:
    few = next(s for s in samples_of(row, dtype) if map_arrays(np.shape, s.args)[0] == (2, 3))
    first, *others = results_by_threads(row, dtype, Sample(map_arrays(lambda a: np.resize(a, 40_011), few.args), few.kwargs))
    assert others == [first] * 3


@needs_threads
@pytest.mark.parametrize("row, dtype", cases(REDUCTIONS))
def test_each_reduction_has_the_same_bits(row, dtype: str) -> None:
    """Whole arrays, rows and columns, as the row's samples ask."""
    for few in samples_of(row, dtype):
        if [np.ndim(x) for x in few.args if isinstance(x, np.ndarray)] != [2]:
            continue
        random = np.random.default_rng(2)
        large = np.asarray(random.uniform(0.9, 1.1, (211, 307)), few.args[0].dtype)
        first, *others = results_by_threads(row, dtype, Sample((large, *few.args[1:]), few.kwargs))
        assert others == [first] * 3


@needs_threads
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts the threads that Linux shows")
def test_workers_take_part() -> None:
    """A thread that Python did not start uses time of a processor."""
    x = ag.ones(10**6)
    set_kernel_threads(2)
    for _ in range(2000):
        x.exp()
        if any(processor_time(thread) > 0 for thread in os.listdir("/proc/self/task") if thread != str(os.getpid())):
            return
    pytest.fail("no worker did anything")


def processor_time(thread: str) -> int:
    with open(f"/proc/self/task/{thread}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[11])


@needs_threads
def test_callers_from_several_python_threads_do_not_wait_for_each_other() -> None:
    set_kernel_threads(2)
    x = ag.ones(SHAPE)
    expected = (x * 2.0).exp().numpy()
    found: list[np.ndarray] = []
    in_threads(4, lambda _: found.extend((x * 2.0).exp().numpy() for _ in range(50)))
    assert len(found) == 200
    assert all(np.array_equal(y, expected) for y in found)


@needs_threads
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


@needs_threads
@pytest.mark.parametrize("text, number", [("3", 3), ("2,4", 2), (" 5 ", 5), ("1", 1)])
def test_number_comes_from_the_environment(text: str, number: int) -> None:
    assert usual_threads(text) == number


@needs_threads
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs affinity")
@pytest.mark.parametrize("text", ["", "0", "-2", "many", "2.5"])
def test_number_is_that_of_cores_otherwise(text: str) -> None:
    assert usual_threads(text) == len(os.sched_getaffinity(0))


@needs_threads
def test_number_in_a_new_process() -> None:
    code = "import autograd_cy as ag; print(ag.get_num_threads())"
    environment = os.environ | {"OMP_NUM_THREADS": "3", "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "3"


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
