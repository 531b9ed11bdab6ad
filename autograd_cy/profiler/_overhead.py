"""prof.overhead(): each operation's time split into arithmetic and overhead (facade).

An event covers a whole operation, since reading the clock between its parts would cost more than the parts. So the parts are
measured separately afterwards: allocation and freeing with results of the same type and shape, recording with small tensors,
arithmetic by calling the operation again on such operands and on operands of one element. The rest is dispatch: finding the
loop, and cache misses of code and memory.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from .._core.inspection.raw_events import Array, Frame
from .._core.inspection.recorder import Recorder
from .._core.ops.costs import allocation_ns, event_ns, type_choice_ns
from .._core.ops.operations import OPS
from .._creation.filled import full
from ..autograd.grad_mode import enable_grad, no_grad
from ._format import format_time
from ._recording import Recording
from ._replay import DTYPES, Replay

PARTS = ("dispatch", "type choice", "allocation", "arithmetic", "recording", "freeing")
OWNED = 4  # NumPy's flag of an array that owns its memory
LARGEST_TRIED = 1 << 24  # bytes: larger results are timed as one of this size
SMALL = 1000.0  # ns of arithmetic: less than this is noise
ROUNDS = 9


class Part(NamedTuple):
    """The time of the calls of one operation or of one line, by parts; in ns.

    All but `freeing` add up to `total`; results and nodes are freed later.
    """

    name: str
    calls: int
    total: float
    dispatch: float
    type_choice: float
    allocation: float
    arithmetic: float
    recording: float
    freeing: float


class Constants(NamedTuple):
    """The time of a call that doesn't depend on its operands; in ns."""

    type_choice: float
    recording: float
    freeing_node: float
    event: float


class Overhead:
    """What overhead() found: `operations` and `lines` are lists of Part, the longest first. print() shows them as a table."""

    def __init__(self, operations: list[Part], lines: list[Part]):
        self.operations, self.lines = operations, lines

    def table(self, row_limit: int = 20) -> str:
        """table(row_limit=20) is the operations and the lines as text, a column for each part, in 100 columns."""
        return "\n\n".join(
            _table(title, parts[:row_limit])
            for title, parts in (("Operation", self.operations), ("Line", self.lines))
            if parts
        )

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col'>{title}</th>" for title in ("name", "calls", "total", *PARTS))
        rows = "".join(
            f"<tr><th scope='row'>{part.name}</th><td>{part.calls}</td>"
            + "".join(f"<td>{format_time(ns / 1e3)}</td>" for ns in part[2:])
            + "</tr>"
            for part in self.operations
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def overhead_of(prof: Any) -> Overhead:
    """The parts of a profile's operations. RuntimeError unless it recorded shapes."""
    recording = prof.recording
    if not prof.record_shapes:
        raise RuntimeError("overhead() compares with results of the same shape: it needs profile(record_shapes=True)")
    parts = _Parts(recording, measured_constants())
    operations: dict[str, list[float]] = defaultdict(lambda: [0.0] * (len(PARTS) + 2))
    lines: dict[str, list[float]] = defaultdict(lambda: [0.0] * (len(PARTS) + 2))
    for i in parts.in_order():
        found = (1, *parts.of(i))
        stack = recording.stacks[i]
        for row in (operations[recording.names[i]], lines[_place(stack[0])] if stack else None):
            if row is not None:
                row[:] = [a + b for a, b in zip(row, found, strict=True)]
    return Overhead(_longest_first(operations), _longest_first(lines))


class _Parts:
    """Splits the time of events into parts."""

    def __init__(self, recording: Recording, constants: Constants):
        self.recording, self.constants, self.replay = recording, constants, Replay()
        self.dispatches: list[float] = []
        self.composed = {event.parent for event in recording.events if event.n_nodes}  # what they call records
        self.allocations: dict[tuple[str, tuple[int, ...]], tuple[float, float]] = {}

    def in_order(self) -> list[int]:
        """The operations; those from which others are estimated come first."""
        ops = [i for i, event in enumerate(self.recording.events) if event.kind == "op"]
        return sorted(ops, key=lambda i: self.replay.arithmetic_ns(self.recording.events[i]) or SMALL)

    def of(self, i: int) -> tuple[float, ...]:
        """The event's own time, then its parts, in the order of PARTS."""
        event, known = self.recording.events[i], self.constants
        total = max(self.recording.self_times[i] - known.event, 0.0)
        making, freeing = self.allocation(event.result)
        recorded = event.n_nodes > 0 and i not in self.composed
        fixed = [known.type_choice, making, known.recording if recorded else 0.0]
        if sum(fixed) > total:  # the clock's grain
            fixed = [total * part / sum(fixed) for part in fixed]
        choice, making, entering = fixed
        dispatch, arithmetic = self.rest(i, total - sum(fixed))
        return total, dispatch, choice, making, arithmetic, entering, freeing + (known.freeing_node if recorded else 0.0)

    def rest(self, i: int, time: float) -> tuple[float, float]:
        """Dispatch and arithmetic. If arithmetic dominates or can't be measured, dispatch is estimated from other calls."""
        arithmetic = self.replay.arithmetic_ns(self.recording.events[i])
        if arithmetic is not None and arithmetic < SMALL:
            dispatch = max(time - arithmetic, 0.0)
            self.dispatches.append(dispatch)
        else:
            dispatch = min(statistics.median(self.dispatches) if self.dispatches else 0.0, time)
        return dispatch, time - dispatch

    def allocation(self, result: Array | None) -> tuple[float, float]:
        """The time to allocate such a result, and to free it; 0 if it doesn't own its memory."""
        if result is None or not result.flags & OWNED:
            return 0.0, 0.0
        key = (result.dtype, result.shape)
        if key not in self.allocations:
            self.allocations[key] = _allocation(result)
        return self.allocations[key]


def _allocation(result: Array) -> tuple[float, float]:
    nbytes = result.itemsize
    for size in result.shape:
        nbytes *= size
    repeats = 30 if nbytes < 1 << 16 else 2
    shape = result.shape if nbytes <= LARGEST_TRIED else (LARGEST_TRIED // result.itemsize,)
    tries = [allocation_ns(DTYPES[result.dtype], shape, repeats) for _ in range(ROUNDS)]
    return statistics.median(made for made, _ in tries), statistics.median(freed for _, freed in tries)


def measured_constants() -> Constants:
    """The time of a call with negligible arithmetic: `mul` on tensors of one element."""
    number, leaf = full((1,), 1.0), full((1,), 1.0, requires_grad=True)
    multiply = OPS["mul"].function
    choice = type_choice_ns(DTYPES["float32"], DTYPES["float32"], 1000)
    empty = _median_event(lambda: event_ns(1))
    with no_grad():
        plain = _median_event(lambda: multiply(number, number)) - empty
        plain_step = _time(lambda: multiply(number, number))
    with enable_grad():
        recording = max(_median_event(lambda: multiply(leaf, number)) - empty - plain, 0.0)
        recorded_step = _time(lambda: multiply(leaf, number))
    return Constants(choice, recording, max(recorded_step - plain_step - recording, 0.0), empty)


def _median_event(step: Callable[[], Any], repeats: int = 1000) -> float:
    """The median time of the events of a call, in ns."""
    recorder = Recorder(capacity=repeats)
    recorder.start()
    for _ in range(repeats):
        step()
    recorder.stop()
    return statistics.median(event.end - event.start for event in recorder.events())


def _time(step: Callable[[], Any], repeats: int = 200) -> float:
    """The median time of a call, in ns."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        for _ in range(repeats):
            step()
        times.append((time.perf_counter_ns() - start) / repeats)
    return statistics.median(times)


def _place(frame: Frame) -> str:
    return f"{frame.file.rpartition('/')[2]}:{frame.line}"


def _longest_first(rows: dict[str, list[float]]) -> list[Part]:
    return sorted((Part(name, int(row[0]), *row[1:]) for name, row in rows.items()), key=lambda part: -part.total)


def _table(title: str, parts: list[Part]) -> str:
    """Parts as text: shares of the total in percent, times of a call."""
    lines = [f"{title:<24} {'calls':>7} {'a call':>9} " + " ".join(f"{part[:8]:>8}" for part in PARTS)]
    for part in parts:
        shares = [f"{100 * ns / part.total if part.total else 0:>7.0f}%" for ns in part[3:]]
        call = format_time(part.total / part.calls / 1e3)
        lines.append(f"{part.name[-24:]:<24} {part.calls:>7} {call:>9} " + " ".join(shares))
    return "\n".join(lines)
