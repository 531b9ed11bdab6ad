"""Traces for Perfetto and chrome://tracing: the JSON of Chrome's trace events.

NOTE [Traces]

1. Slices of a thread nest, and lines are sorted by time; if two begin together, the outer one comes first.
2. Times are in us with ns digits, plus a quarter ns: Perfetto's older releases truncate to ns, newer ones round, and 0.001 us
   is not representable. So both find the same ns, and a slice never outlasts the one around it.
3. `displayTimeUnit` is "ms", and comes first: with "ns", older releases took all times as ns.
4. An arrow begins (`s`) at the start of the operation's slice and ends (`f`, bound to the enclosing slice) at the start of the
   backward node's. Each line of an arrow follows its slice, before any slice that begins inside at the same time.
5. Threads have small numbers, since viewers have only 32 bits for Python's identifiers.
"""

import gzip
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence

from .._core.inspection.raw_events import Array, RawEvent
from ._events import FunctionEvent
from ._operands import ByLayout, frames_as_text, shapes_of, strides_of, types_of
from ._recording import Recording

_CATEGORIES = {"op": "cpu_op", "backward": "cpu_op", "function": "cpu_op", "region": "user_annotation"}


def write_recording(path: str | os.PathLike[str], recording: Recording, metadata: dict[str, str]) -> None:
    """Write a recording with its arrows; `metadata` has JSON texts by key. Paths that end in .gz are compressed."""
    lines = [*_slices(recording), *_live_bytes(recording)]
    lines.sort(key=lambda line: line[0])  # stable: case 1 of NOTE [Traces]
    threads = [(k + 1, name) for k, (_, name) in enumerate(recording.threads)]
    _write(path, threads, (text for _, text in lines), {"baseTimeNanoseconds": str(recording.wall), **metadata})


def write_events(path: str | os.PathLike[str], events: Sequence[FunctionEvent]) -> None:
    """Write events without a recording."""
    ordered = sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end))
    texts = (
        f'{{"ph":"X","cat":"cpu_op","name":{_quoted(e.trace_name)},"pid":{os.getpid()},"tid":{e.thread},'
        f'"ts":{us(round(e.time_range.start * 1000))},"dur":{us(round(e.time_range.elapsed_us() * 1000))},"args":{{}}}}'
        for e in ordered
        if e.name != "[memory]"
    )
    _write(path, [(k, f"thread {k}") for k in sorted({e.thread for e in events})], texts, {})


def us(ns: int) -> str:
    """A time in ns as JSON in us: case 2 of NOTE [Traces]."""
    return f"{ns // 1000}.{ns % 1000:03d}25"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _slices(recording: Recording) -> Iterable[tuple[int, str]]:
    """The lines of each event, with its arrows, by its start."""
    pid, origin, names = os.getpid(), recording.begin, {name: _quoted(name) for name in set(recording.names)}
    leaving: dict[int, list[int]] = defaultdict(list)
    for i, forward in enumerate(recording.forward):
        if forward >= 0:
            leaving[forward].append(i)  # an arrow has the number of the backward event
    details = _Details(recording)
    shown, events, arriving = recording.names, recording.events, recording.forward
    for i in recording.in_order():
        kind, _, begin, end, thread, *_ = event = events[i]
        place = f'"pid":{pid},"tid":{thread + 1},"ts":{us(begin - origin)}'
        text = (
            f'{{"ph":"X","cat":"{_CATEGORIES.get(kind, kind)}","name":{names[shown[i]]},{place},'
            f'"dur":{us(end - begin)},"args":{{{details.of(i, event)}}}}}'
        )
        if i in leaving:
            text += "".join([f',\n{{"ph":"s","id":{k},"cat":"fwdbwd","name":"fwdbwd",{place}}}' for k in leaving[i]])
        if arriving[i] >= 0:
            text += f',\n{{"ph":"f","id":{i},"cat":"fwdbwd","name":"fwdbwd",{place},"bp":"e"}}'
        yield begin - origin, text


class _Details:
    """The arguments of slices; texts shared by many are made once."""

    def __init__(self, recording: Recording):
        self.recording = recording
        self.stacks: dict[int, str] = {}  # by identity: a recording has the same tuple for many events
        self.operands = ByLayout(_operands_as_json)

    def of(self, i: int, event: RawEvent) -> str:
        recording = self.recording
        text, number, forward = f'"External id":{i}', recording.sequence_numbers[i], recording.forward[i]
        if number >= 0:
            text += f',"Sequence number":{number}'
        if forward >= 0:
            text += f',"Fwd thread id":{recording.events[forward].thread + 1}'
        if event.operands is not None:
            text += self.operands.of(event.operands)
        stack = recording.stacks[i]
        if stack:
            known = self.stacks.get(id(stack))
            if known is None:
                known = self.stacks[id(stack)] = f',"Call stack":{_quoted(";".join(reversed(frames_as_text(stack))))}'
            text += known
        if event.args is not None:
            text += f',"Args":{_quoted(event.args)}'
        return text


def _operands_as_json(operands: tuple[Array, ...]) -> str:
    shapes, strides, types = shapes_of(operands), strides_of(operands), types_of(operands)
    return f',"Input Dims":{json.dumps(shapes)},"Input Strides":{json.dumps(strides)},"Input type":{json.dumps(types)}'


def _live_bytes(recording: Recording) -> Iterable[tuple[int, str]]:
    """A counter of live bytes, relative to the start."""
    pid = os.getpid()
    for time, live in zip(*recording.live_bytes(), strict=True):
        start = time - recording.begin
        yield start, f'{{"ph":"C","name":"live bytes","pid":{pid},"tid":0,"ts":{us(start)},"args":{{"bytes":{live}}}}}'


def _write(
    path: str | os.PathLike[str], threads: Iterable[tuple[int, str]], lines: Iterable[str], metadata: dict[str, str]
) -> None:
    pid = os.getpid()
    head = ['{"displayTimeUnit":"ms","schemaVersion":1']
    head += [f",\n{_quoted(key)}:{text}" for key, text in metadata.items()]
    names = [f'{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"ts":0,"args":{{"name":"python"}}}}']
    for tid, name in threads:
        names.append(f'{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"ts":0,"args":{{"name":{_quoted(name)}}}}}')
        names.append(f'{{"ph":"M","name":"thread_sort_index","pid":{pid},"tid":{tid},"ts":0,"args":{{"sort_index":{tid}}}}}')
    text = "".join([*head, ',\n"traceEvents":[\n', ",\n".join([*names, *lines]), "\n]}\n"]).encode()
    if os.fspath(path).endswith(".gz"):
        with gzip.open(path, "wb", compresslevel=5) as file:
            file.write(text)
    else:
        with open(path, "wb") as plain:
            plain.write(text)
