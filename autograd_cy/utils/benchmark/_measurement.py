"""Measurement: the times of a statement, their statistics, and a description of the task (facade)."""

import dataclasses
import functools
import math
import statistics
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

_UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1.0, "second")}
_MAX_FIGURES = 4
_MIN_INTERVAL = 25e-9  # s: the least uncertainty of a clock
_MUCH_SPREAD, _SOME_SPREAD = 0.25, 0.1  # of the quartiles, by the median


@dataclasses.dataclass(frozen=True, repr=False)
class TaskSpec:
    """The task of a Timer, without its globals.

    >>> from autograd_cy.utils.benchmark import TaskSpec
    >>> TaskSpec(stmt="x * x", setup="pass", label="Products", sub_label="4x8").title
    'Products: 4x8'
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement, with the label below it."""
        if self.label is None and "\n" in self.stmt:
            below = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{below}\n{textwrap.indent(self.stmt, '  ')}"
        below = f": {self.sub_label}" if self.sub_label else ""
        return f"{self.stmt if self.label is None else self.label}{below}"

    def setup_str(self) -> str:
        """The setup, with its name; "" if it does nothing."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """The description of the task in a Measurement's text."""
        sections = [self.title, self.description or "", self.setup_str()]
        return "\n".join(f"{section}\n" if "\n" in section else section for section in sections if section)


_FIELDS = frozenset(field.name for field in dataclasses.fields(TaskSpec))


@dataclasses.dataclass(repr=False)
class Measurement:
    """``Measurement(number_per_run, raw_times, task_spec)`` has the times of runs of a statement, in s, and their statistics.

    It also has the fields of the task (`label`, `num_threads`, ...). `iqr` is the distance of the quartiles.

    >>> from autograd_cy.utils.benchmark import Measurement, TaskSpec
    >>> task = TaskSpec(stmt="x * x", setup="pass")
    >>> m = Measurement(number_per_run=10, raw_times=[1e-5, 2e-5, 3e-5], task_spec=task)
    >>> round(m.median * 1e6, 9), round(m.iqr * 1e6, 9), m.has_warnings, m.stmt
    (2.0, 1.0, True, 'x * x')
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in _FIELDS:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """The time of a single call in each run."""
        return [time / self.number_per_run for time in self.raw_times]

    @functools.cached_property
    def _sorted_times(self) -> list[float]:
        return sorted(self.times)

    @property
    def median(self) -> float:
        """The median of the times."""
        return quantile(self._sorted_times, 0.5)

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The interquartile range of the times."""
        return quantile(self._sorted_times, 0.75) - quantile(self._sorted_times, 0.25)

    @property
    def significant_figures(self) -> int:
        """The number of significant digits of the median, 1 to 4, by the confidence interval of the middle half."""
        times = self._sorted_times
        middle = times[len(times) // 4 : math.ceil(3 * len(times) / 4)]
        interval = max(1.645 * statistics.pstdev(middle) / math.sqrt(len(middle)), _MIN_INTERVAL)
        return min(max(math.floor(math.log10(self.median / interval)), 1), _MAX_FIGURES)

    def meets_confidence(self, threshold: float = _SOME_SPREAD) -> bool:
        """Whether the interquartile range is below `threshold` times the median."""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Whether the repr warns of a large spread."""
        return bool(self._warning())

    def _warning(self) -> str:
        if self.meets_confidence(_SOME_SPREAD):
            return ""
        much = not self.meets_confidence(_MUCH_SPREAD)
        advice = "This suggests significant environmental influence." if much else "This could indicate system fluctuation."
        spread = self.iqr / self.median * 100
        return f"  WARNING: Interquartile range is {spread:.1f}% of the median measurement.\n           {advice}"

    @property
    def title(self) -> str:
        """A one-line description."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The task's environment."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of its row in a comparison."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        n, runs, threads = len(self.raw_times), self.number_per_run, self.task_spec.num_threads
        unit, scale = select_unit(self.median)
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if n > 1 else ''}{self.median / scale:.2f} {unit}")
        if n >= 4:
            low, high = (quantile(self._sorted_times, q) / scale for q in (0.25, 0.75))
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        counted = f"{n} measurements, {runs} runs per measurement," if n > 1 else f"{n} measurement, {runs} runs ,"
        lines.append(f"  {counted} {threads} thread{'s' if threads > 1 else ''}")
        return "\n".join([*lines, self._warning()]).strip()

    @staticmethod
    def merge(measurements: Iterable["Measurement"]) -> list["Measurement"]:
        """merge(measurements) returns one for each task, with all of its times for single calls."""
        times: dict[TaskSpec, list[float]] = {}
        for measurement in measurements:
            times.setdefault(measurement.task_spec, []).extend(measurement.times)
        return [Measurement(1, found, task) for task, found in times.items()]


def quantile(ordered: Sequence[float], q: float) -> float:
    """The q-quantile of sorted times, with linear interpolation."""
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def select_unit(t: float) -> tuple[str, float]:
    """``select_unit(t)`` is the unit for a time in s, and the unit in s.

    >>> from autograd_cy.utils.benchmark import select_unit
    >>> select_unit(0.002)
    ('ms', 0.001)
    """
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(max(int(math.log10(t) // 3), -3), "s")
    return unit, _UNITS[unit][0]


def unit_to_english(u: str) -> str:
    """``unit_to_english(u)`` is the name of a unit; KeyError for an unknown one.

    >>> from autograd_cy.utils.benchmark import unit_to_english
    >>> unit_to_english("us")
    'microsecond'
    """
    if type(u) is not str or u not in _UNITS:
        raise KeyError(f"unit_to_english(): the units are {', '.join(_UNITS)}, got {u!r}")
    return _UNITS[u][1]


def trim_sigfig(x: float, n: int) -> float:
    """``trim_sigfig(x, n)`` is x with n significant figures. AssertionError if n is not an integer.

    >>> from autograd_cy.utils.benchmark import trim_sigfig
    >>> trim_sigfig(3.14159, 2)
    3.1
    """
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    if x == 0 or not math.isfinite(x):
        return x
    digits = int(n) - math.ceil(math.log10(abs(x)))
    return round(x, digits)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """``ordered_unique(elements)`` has each element once, in the order of first occurrence.

    >>> from autograd_cy.utils.benchmark import ordered_unique
    >>> ordered_unique([3, 1, 3])
    [3, 1]
    """
    return list(dict.fromkeys(elements))
