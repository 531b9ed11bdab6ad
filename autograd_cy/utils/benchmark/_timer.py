"""Timer: how long a statement takes (facade)."""

import contextlib
import enum
import importlib
import statistics
import textwrap
import timeit
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ..._compat import PACKAGE
from ..._core.parallel.threads import get_num_threads, set_kernel_threads
from ..._core.runtime.once import warn_once
from ._measurement import Measurement, TaskSpec

timer = timeit.default_timer


class Language(enum.Enum):
    """The language of a statement: only Python is supported.

    >>> from autograd_cy.utils.benchmark import Language, Timer
    >>> Timer("pass", language=Language.CPP)
    Traceback (most recent call last):
    NotImplementedError: Timer: statements in C++ are PyTorch's, this package times Python
    """

    PYTHON = 0
    CPP = 1


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """``with set_torch_threads(n)`` makes kernels, and NumPy's BLAS, use n threads in a block.

    Without threadpoolctl BLAS keeps its number of threads, with one UserWarning.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils.benchmark import set_torch_threads
    >>> with warnings.catch_warnings(action="ignore"), set_torch_threads(1):    # where threadpoolctl is not installed
    ...     ag.get_num_threads()
    1
    """
    before = get_num_threads()
    with _blas_threads(n):
        set_kernel_threads(n)
        try:
            yield
        finally:
            set_kernel_threads(before)


def _blas_threads(n: int) -> contextlib.AbstractContextManager[Any]:
    try:
        import threadpoolctl
    except ImportError:
        warn_once("benchmark: num_threads is for kernels only: install threadpoolctl to set the threads of BLAS, too.")
        return contextlib.nullcontext()
    return threadpoolctl.threadpool_limits(limits=n, user_api="blas")


class Timer:
    """``Timer(stmt, setup, globals=...)`` times a statement, by default on one thread, after a warmup.

    In the statement `torch` is this package, unless globals define it. `label`, `sub_label`, `description` and `env`
    describe the task, for Measurement and Compare. ValueError unless stmt is a str.

    >>> import warnings
    >>> from autograd_cy.utils.benchmark import Timer
    >>> with warnings.catch_warnings(action="ignore"):      # where threadpoolctl is not installed
    ...     m = Timer("x * x", setup="x = torch.ones(3)", label="Products").timeit(100)
    >>> m.number_per_run, m.label, 0 < m.median < 1
    (100, 'Products', True)
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("Timer: statements in C++ are PyTorch's, this package times Python")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        stmt, setup = _without_indent(stmt), _without_indent(setup)
        names = {"torch": importlib.import_module(PACKAGE), **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)  # a clock may stand still

    def timeit(self, number: int = 1000000) -> Measurement:
        """timeit(number) measures that many runs once, after a warmup of a hundredth as many."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """repeat() is not supported: use blocked_autorange()."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], Any] | None = None) -> NoReturn:
        """autorange() is not supported: use blocked_autorange()."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time: float) -> int:
        """A number of runs that makes the clock's time negligible; the search is the warmup."""
        clock = statistics.median(self._timeit(0) for _ in range(5))
        number = 1
        while number * 10 <= 2**31 - 1:
            time = self._timeit(number)
            if time > min_run_time or (clock / time <= 1e-4 and time >= min_run_time / 1000):
                break
            number *= 10
        return number

    def _blocks(
        self,
        number: int,
        min_run_time: float,
        max_run_time: float,
        is_enough: Callable[[list[float]], bool],
        callback: Callable[[int, float], Any] | None,
    ) -> Measurement:
        """Measure blocks of runs until their time suffices and `is_enough` holds, or the time is up."""
        times: list[float] = []
        total = 0.0
        while True:
            times.append(self._timeit(number))
            total += times[-1]
            if callback is not None:
                callback(number, times[-1])
            if total > max_run_time or (total >= min_run_time and is_enough(times)):
                return Measurement(number, times, self._task_spec)

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2) -> Measurement:
        """blocked_autorange(min_run_time=0.2) measures blocks of runs for at least that many seconds.

        A block is long enough to make reading the clock negligible. `callback(number, time)` is called after each.
        """
        with set_torch_threads(self._task_spec.num_threads):
            return self._blocks(self._block_size(min_run_time), min_run_time, float("inf"), lambda times: True, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """adaptive_autorange(threshold=0.1) measures blocks until their iqr / median is below the threshold.

        At least four blocks and min_run_time seconds, at most max_run_time.
        """
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(0.05)

            def is_enough(times: list[float]) -> bool:
                n = len(times)
                if n <= 3 or n % (1 + n // 50):  # after many blocks not after each one, as it sorts them
                    return False
                return Measurement(number, times, self._task_spec).meets_confidence(threshold)

            return self._blocks(number, min_run_time, max_run_time, is_enough, callback)

    def collect_callgrind(
        self, number: int = 100, *, repeats: int | None = None, collect_baseline: bool = True, retain_out_file: bool = False
    ) -> NoReturn:
        """collect_callgrind() is not supported: `make profile` counts the instructions of the compiled core by line."""
        raise NotImplementedError(
            "Timer.collect_callgrind: this package does not count instructions of a statement; `make profile SCRIPT=...` "
            "in its source tree does, by function and line of the compiled core"
        )


def _without_indent(code: str) -> str:
    """Code without its common indentation."""
    return textwrap.dedent(code).removeprefix("\n").rstrip()
