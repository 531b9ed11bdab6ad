"""Timing of operations by calling them again on arrays like the recorded ones (facade)."""

import contextlib
import functools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._core.arrays.dtypes import all_dtypes
from .._core.inspection.raw_events import Array, RawEvent
from .._core.ops.operations import OPS
from .._core.parallel.threads import get_num_threads, set_kernel_threads
from .._creation.data import from_numpy
from ..autograd.grad_mode import no_grad
from ._calls import Calls

DTYPES = {dtype.name: dtype for dtype in all_dtypes()}
LARGEST = 1 << 26  # bytes: larger operands are not made again
ROUNDS = 5
NOTICEABLE = 0.15  # of a call's time: smaller gains are noise
SECONDS = 0.0005  # of a round, at least
PAIRED_ROUNDS = 15


def median_ns(step: Callable[[], Any]) -> float:
    """The median time of a call, in ns."""
    step()
    repeats = 1
    while (seconds := _seconds(step, repeats)) < SECONDS:
        repeats = max(2 * repeats, min(int(repeats * SECONDS / max(seconds, 1e-9)), 1000 * repeats))
    return 1e9 * statistics.median(_seconds(step, repeats) / repeats for _ in range(ROUNDS))


def paired_ns(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float]:
    """The least time of a call of each, in ns, measured by turns on one thread.

    Other programs never make a call shorter, but threads that wait for each other would also wait for those.
    """
    steps = (first, second)
    with one_thread():
        repeats = [max(1, int(SECONDS / max(min(_seconds(step, 1) for _ in range(3)), 1e-9))) for step in steps]
        rounds = [[_seconds(step, n) / n for step, n in zip(steps, repeats, strict=True)] for _ in range(PAIRED_ROUNDS)]
    return 1e9 * min(a for a, _ in rounds), 1e9 * min(b for _, b in rounds)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Kernels have one thread in the block; so has BLAS if threadpoolctl is installed."""
    before = get_num_threads()
    set_kernel_threads(1)
    try:
        with _blas_limits():
            yield
    finally:
        set_kernel_threads(before)


def _blas_limits() -> contextlib.AbstractContextManager[Any]:
    try:
        import threadpoolctl
    except ImportError:
        return contextlib.nullcontext()
    return threadpoolctl.threadpool_limits(1, user_api="blas")


def _seconds(step: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return time.perf_counter() - start


def made_like(array: Array) -> Any | None:
    """A tensor of ones with that type and layout; None if it is impossible or too large."""
    if any(stride < 0 for stride in array.strides) or not all(array.shape):
        return None
    reach = array.itemsize + sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True))
    if reach > LARGEST:
        return None
    memory = np.ones(math.ceil(reach / array.itemsize), dtype=array.dtype)
    view = np.lib.stride_tricks.as_strided(memory, array.shape, array.strides)
    return from_numpy(view) if view.flags.writeable else None


def dense(array: Array) -> Array:
    """The same array in C order."""
    strides, step = [], array.itemsize
    for size in reversed(array.shape):
        strides.append(step)
        step *= size
    return array._replace(strides=tuple(reversed(strides)))


def converted(array: Array, dtype: str) -> Array:
    """The same array in another type, with the same strides in elements."""
    size = DTYPES[dtype].itemsize
    return array._replace(dtype=dtype, itemsize=size, strides=tuple(s // array.itemsize * size for s in array.strides))


class Replay:
    """Times operations once for each name and each kind of operands."""

    def __init__(self) -> None:
        self._times: dict[Any, float | None] = {}
        self._pairs: dict[Any, tuple[float, float]] = {}

    def call_ns(self, name: str, operands: Sequence[Array]) -> float | None:
        """The time of a call on operands like these; None if it fails or needs unknown arguments."""
        operands = [array._replace(address=0) for array in operands]
        key = (name, tuple(operands))
        if key not in self._times:
            with no_grad():
                self._times[key] = _call_ns(name, operands)
        return self._times[key]

    def gain_ns(self, calls: Calls, better: Sequence[Array] | None = None) -> float:
        """The gain of a call from better operands or, without these, from working in place; 0 if it is not noticeable.

        It is the measured fraction of the recorded time, since the calls may have had several threads.
        """
        operands, other = calls.operands, None if better is None else tuple(better)
        key = (calls.name, operands, other)
        if key not in self._pairs:
            with no_grad():
                self._pairs[key] = _paired(calls.name, operands, other)
        now, then = self._pairs[key]
        share = 1 - then / now if now else 0.0
        return min(now - then, share * calls.mean_ns) if share > NOTICEABLE else 0.0

    def arithmetic_ns(self, event: RawEvent) -> float | None:
        """The extra time of a call compared with operands of one element."""
        if event.operands is None or event.result is None or not event.operands:
            return None
        whole = self.call_ns(event.name, event.operands)
        small = self.call_ns(event.name, [_one_element(array) for array in event.operands])
        return None if whole is None or small is None else max(whole - small, 0.0)


def _one_element(array: Array) -> Array:
    return array._replace(shape=(1,) * len(array.shape), strides=(array.itemsize,) * len(array.shape))


def _call_ns(name: str, operands: Sequence[Array]) -> float | None:
    step = _step_of(OPS[name].function, operands) if name in OPS else None
    return None if step is None else median_ns(step)


def _paired(name: str, operands: Sequence[Array], better: Sequence[Array] | None) -> tuple[float, float]:
    """The times of a call and of the better one; zeros if one of them can't be made."""
    if name not in OPS:
        return 0.0, 0.0
    function = OPS[name].function
    step = _step_of(function, operands)
    other = _step_of(_in_place(name), operands) if better is None else _step_of(function, better)
    return (0.0, 0.0) if step is None or other is None else paired_ns(step, other)


def _step_of(function: Callable[..., Any], operands: Sequence[Array]) -> Callable[[], Any] | None:
    """A call of the function on operands like these; None if it doesn't take them."""
    tensors = [made_like(array) for array in operands]
    if any(tensor is None for tensor in tensors):
        return None
    for args in (tensors, [*tensors, 2.0]):  # the numbers that it was called with are not known
        try:
            function(*args)
        except Exception:  # it takes other arguments
            continue
        return functools.partial(function, *args)
    return None


def _in_place(name: str) -> Callable[..., Any]:
    return lambda first, *others: getattr(first, f"{name}_")(*others)
