"""The model of the page that export_html writes: columns of numbers, and lists of texts to which they refer."""

import sys
from collections import defaultdict
from typing import Any, Generic, TypeVar

from .._core.inspection.raw_events import Frame
from ._graph import graph_of
from ._memory import MemoryTimeline
from ._operands import source_of
from ._recording import Recording

T = TypeVar("T")


class Pool(Generic[T]):
    """Values by number, each once, in the order in which they were first seen."""

    def __init__(self) -> None:
        self.numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        """The number of a value."""
        return self.numbers.setdefault(value, len(self.numbers))

    def values(self) -> list[T]:
        """All values."""
        return list(self.numbers)


def model_of(prof: Any, graph: Any = None) -> dict[str, Any]:
    """The data of a profile's page: a dict that can be written as JSON. Times are ns since the start.

    `events` has columns with one entry for each event, by thread and start. Their `name`, `kind`, `file`, `function` and
    `shape` are places in the lists beside it, -1 where there is none; `parent` and `forward` are places among the events.
    `graph` is a tensor whose graph the page draws.
    """
    recording = prof.recording
    names, kinds, files = Pool[str](), Pool[str](), Pool[str]()
    functions, shapes = Pool[str](), Pool[str]()
    events = _columns(recording, names, kinds, files, functions, shapes)
    return {
        "title": _title(),
        "unit": "ns",
        "start": 0,
        "end": recording.end - recording.begin,
        "threads": [name for _, name in recording.threads],
        "names": names.values(),
        "kinds": kinds.values(),
        "files": files.values(),
        "functions": functions.values(),
        "shapes": shapes.values(),
        "events": events,
        "table": _table(recording),
        "lines": _lines(recording),
        "hints": [as_dict(hint) for hint in prof.hints()],
        "memory": _memory(recording),
        "graph": None if graph is None else graph_of(graph),
        "dropped": recording.dropped,
    }


def _title() -> str:
    script = sys.argv[0] if sys.argv else ""
    return script.rpartition("/")[2] or "profile"


def as_dict(hint: Any) -> dict[str, Any]:
    """A hint by its fields."""
    return dict(hint) if isinstance(hint, dict) else hint._asdict()


def _columns(
    recording: Recording,
    names: Pool[str],
    kinds: Pool[str],
    files: Pool[str],
    functions: Pool[str],
    shapes: Pool[str],
) -> dict[str, list[int]]:
    raw = recording.events
    places = {
        stack: (files.number(stack[0].file), stack[0].line, functions.number(stack[0].function)) if stack else (-1, -1, -1)
        for stack in dict.fromkeys(recording.stacks)
    }
    where = [places[stack] for stack in recording.stacks]
    operands = [tuple([array.shape for array in event.operands or ()]) for event in raw]
    texts = {key: ", ".join(str(list(shape)) for shape in key) for key in dict.fromkeys(operands)}
    return {
        "name": [names.number(name) for name in recording.names],
        "kind": [kinds.number(event.kind) for event in raw],
        "start": [event.start - recording.begin for event in raw],
        "duration": [event.end - event.start for event in raw],
        "thread": [event.thread for event in raw],
        "depth": recording.depths,
        "parent": [event.parent for event in raw],
        "file": [file for file, _, _ in where],
        "line": [line for _, line, _ in where],
        "function": [function for _, _, function in where],
        "shape": [shapes.number(texts[key]) if key else -1 for key in operands],
        "sequence": recording.sequence_numbers,
        "forward": recording.forward,
    }


def _table(recording: Recording) -> list[dict[str, Any]]:
    """Sums by name, the largest self time first."""
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for i, event in enumerate(recording.events):
        row = sums[recording.names[i], event.kind]
        row[0] += 1
        row[1] += recording.self_times[i]
        row[2] += event.end - event.start
        row[3] += recording.self_bytes[i]
    rows = [
        {"name": name, "kind": kind, "calls": calls, "self_ns": own, "total_ns": total, "bytes": nbytes}
        for (name, kind), (calls, own, total, nbytes) in sums.items()
    ]
    return sorted(rows, key=lambda row: -row["self_ns"])


def _lines(recording: Recording) -> list[dict[str, Any]]:
    """Self time by line of the user's code, backward nodes at the line that recorded them; counts calls of operations."""
    sums: dict[Frame, list[int]] = defaultdict(lambda: [0, 0])
    for stack, own, event in zip(recording.stacks, recording.self_times, recording.events, strict=True):
        if stack:
            row = sums[stack[0]]
            row[0] += own
            row[1] += event.kind == "op"
    rows = [
        {
            "file": place.file, "line": place.line, "function": place.function, "self_ns": own, "calls": calls,
            "source": source_of(place),
        }
        for place, (own, calls) in sums.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row["self_ns"])


def _memory(recording: Recording) -> dict[str, Any] | None:
    """Live bytes over time, and the line that held most; None if memory was not recorded."""
    if not recording.memory:
        return None
    found = MemoryTimeline(recording)
    peak = {key: value for key, value in found.peak._asdict().items() if key != "held"}
    return {"time": found.times, "bytes": found.bytes, "peak": peak}
