"""The calls of operations by line and kind of operands, with the reuse of operands' memory between them (facade)."""

import bisect
from collections import defaultdict
from typing import Any

from .._core.inspection.raw_events import Array, Frame, RawEvent
from ._operands import nbytes_of
from ._recording import Recording

LARGE = 1 << 14  # bytes: for smaller operands, the call's overhead dominates
OWNED = 4  # NumPy's flag of an array that owns its memory


class Calls:
    """The calls of one operation on operands of one kind from one line."""

    def __init__(self, name: str, operands: tuple[Array, ...], result: Array | None):
        self.name, self.operands, self.result = name, operands, result
        self.n = self.ns = self.recorded = self.replaced = 0
        self.met: list[set[tuple[int, int]]] = [set() for _ in operands]

    @property
    def mean_ns(self) -> float:
        """The mean time of a call."""
        return self.ns / self.n

    def repeated(self) -> list[tuple[int, Array]]:
        """The large operands that several calls share, with their positions; not those recomputed for each call."""
        return [(k, array) for k, array in enumerate(self.operands) if nbytes_of(array) >= LARGE and self.n > len(self.met[k])]


def calls_by_line(recording: Recording) -> dict[tuple[Frame, Any], Calls]:
    """The calls of operations, by line, name and kind of operands. Those that operations make themselves don't count."""
    found: dict[tuple[Frame, Any], Calls] = {}
    given_back, written = _given_back(recording), _Written()
    events = recording.events
    for i in recording.in_order():
        event = events[i]
        if event.kind != "op" or event.operands is None:
            continue
        met = [(array.address, written.times(array.address)) for array in event.operands]
        written.note(event.result)
        if not recording.stacks[i]:
            continue
        if event.parent >= 0 and events[event.parent].kind in ("op", "backward"):
            continue
        operands = tuple(array._replace(address=0) for array in event.operands)
        result = event.result._replace(address=0) if event.result else None
        calls = found.setdefault((recording.stacks[i][0], (event.name, operands, result)), Calls(event.name, operands, result))
        calls.n += 1
        calls.ns += event.end - event.start
        calls.recorded += event.n_nodes > 0
        for seen, operand in zip(calls.met, met, strict=True):
            seen.add(operand)
        calls.replaced += _is_replaced(event, given_back)
    return found


class _Written:
    """How often operations have written to memory. Data at one address is the same tensor only until the next write."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._counts: dict[int, tuple[int, int]] = {}  # of a start: the end, and how often

    def note(self, result: Array | None) -> None:
        """An operation has made that result, or written it in place."""
        if result is None or not result.flags & OWNED:
            return
        if result.address not in self._counts:
            bisect.insort(self._starts, result.address)
        end, times = self._counts.get(result.address, (0, 0))
        self._counts[result.address] = max(end, result.address + nbytes_of(result)), times + 1

    def times(self, address: int) -> int:
        """How often the memory around an address was written."""
        k = bisect.bisect_right(self._starts, address) - 1
        end, times = self._counts[self._starts[k]] if k >= 0 else (0, 0)
        return times if address < end else 0


def _given_back(recording: Recording) -> dict[int, list[int]]:
    """When blocks of memory were given back, by address."""
    times: dict[int, list[int]] = defaultdict(list)
    for allocation in recording.memory:
        if allocation.nbytes < 0:
            times[allocation.address].append(allocation.time)
    return times


def _is_replaced(event: RawEvent, given_back: dict[int, list[int]]) -> bool:
    """Whether the first operand's memory was given back right after the call, while its result is as large."""
    if not event.operands or event.result is None:
        return False
    soon = event.end + max(5_000, event.end - event.start)
    return any(event.end <= time <= soon for time in given_back.get(event.operands[0].address, ()))
