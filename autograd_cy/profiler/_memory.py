"""prof.memory_timeline(): the bytes that are alive over time, and the lines that hold them at the peak (facade)."""

import gzip
import html
import json
import os
from typing import Any, NamedTuple

from .._core.inspection.raw_events import Frame
from ._format import format_memory, format_time
from ._memory_changes import NOWHERE, changes_of, place_of
from ._memory_picture import picture_of
from ._operands import shown_line, source_of
from ._recording import Recording

WIDTH = 100
CATEGORIES = 8  # of PyTorch; the last one is "unknown"
STYLE = (
    "body{font:14px system-ui,sans-serif;margin:24px;color:#1c1c1c;background:#fff;max-width:1040px}"
    "table{border-collapse:collapse}td,th{padding:3px 12px 3px 0;text-align:left}"
    "td.n{text-align:right}code{font-size:13px}caption{text-align:left}"
    "@media(prefers-color-scheme:dark){body{color:#e4e4e4;background:#17191c}}"
)


class Held(NamedTuple):
    """The memory that one line holds: bytes, and the number of blocks. Memory that no operation took has no file.

    >>> from autograd_cy.profiler._memory import Held
    >>> Held("/home/me/step.py", 12, "y = x * x", 400000, 1).bytes
    400000
    """

    file: str
    line: int
    source: str
    bytes: int
    blocks: int


class Peak(NamedTuple):
    """The moment of most live memory: ns since the start, bytes, the running line, and the memory held by each line.

    >>> from autograd_cy.profiler._memory import Peak
    >>> Peak(0, 0, "", -1, "", []).held
    []
    """

    time: int
    bytes: int
    file: str
    line: int
    source: str
    held: list[Held]


class MemoryTimeline:
    """What memory_timeline() found: `times` in ns since the start, and `bytes`, alive after each, against the start.

    `peak` is the moment of most live memory, `older_bytes` counts blocks older than the recording that were freed in it.

    >>> import autograd_cy as ag
    >>> x = ag.ones(100_000)
    >>> with ag.profiler.profile(profile_memory=True) as prof:
    ...     y = (x + 1) * 2
    >>> memory = prof.memory_timeline()
    >>> len(memory.bytes), memory.peak.bytes >= 800_000, len(memory.peak.held)  # blocks of the pool may be larger
    (4, True, 1)
    """

    def __init__(self, recording: Recording):
        times, self.bytes = recording.live_bytes()
        self.times = [time - recording.begin for time in times] or [0]
        self.bytes = self.bytes or [0]
        self.duration = recording.end - recording.begin
        self._recording = recording
        k = max(range(len(self.bytes)), key=self.bytes.__getitem__)
        place = place_of(recording, recording.memory[k - 1].event) if k else NOWHERE
        self.peak = Peak(self.times[k], self.bytes[k], place.file, place.line, source_of(place), self._held_after(k))
        self.older_bytes = sum(change.nbytes for change in changes_of(recording) if change.older)

    def _held_after(self, k: int) -> list[Held]:
        """The memory that lines hold after the k-th change, the largest first."""
        sums: dict[Frame, list[int]] = {}
        for change in changes_of(self._recording, k):
            row = sums.setdefault(change.place, [0, 0])
            if not change.older:
                row[0] += change.nbytes
                row[1] += 1 if change.nbytes > 0 else -1
        held = [Held(place.file, place.line, source_of(place), *row) for place, row in sums.items() if row[1]]
        return sorted(held, key=lambda row: -row.bytes)

    def table(self, row_limit: int = 20) -> str:
        """table(row_limit=20) is the peak and the lines that held it, as text in 100 columns."""
        lines = [self._summary(), f"{'Held at the peak by':<36} {'bytes':>10} {'share':>6} {'blocks':>6}  source"]
        whole = sum(row.bytes for row in self.peak.held)
        for row in self.peak.held[:row_limit]:
            cells = f"{shown_line(row)[-36:]:<36} {format_memory(row.bytes):>10} {row.bytes / whole:>6.1%} {row.blocks:>6}"
            lines.append(f"{cells}  {row.source}"[:WIDTH].rstrip())
        if len(self.peak.held) > row_limit:
            lines.append(f"... {len(self.peak.held) - row_limit} more")
        if self.older_bytes:
            lines.append(f"{format_memory(-self.older_bytes)} that were alive before the recording were given back in it.")
        return "\n".join(lines)

    def _summary(self) -> str:
        where = f" in {shown_line(self.peak)[-36:]}" if self.peak.line > 0 else ""
        after = f"after {format_time(self.peak.time / 1e3)}{where}"
        return f"Peak: {format_memory(self.peak.bytes)} more than at the start, {after}"

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(shown_line(row))}</td><td class='n'>{format_memory(row.bytes)}</td>"
            f"<td class='n'>{row.blocks}</td><td><code>{html.escape(row.source)}</code></td></tr>"
            for row in self.peak.held
        )
        head = "".join(f"<th scope='col'>{title}</th>" for title in ("held at the peak by", "bytes", "blocks", "source"))
        older = f"; {format_memory(-self.older_bytes)} of older memory were given back" if self.older_bytes else ""
        table = f"<caption>{html.escape(self._summary() + older)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
        return f"{picture_of(self._recording, self._summary())}<table>{table}</table>"


def timeline_of(prof: Any) -> MemoryTimeline:
    """The memory of a profile over time. RuntimeError if it didn't record memory."""
    recording = prof.recording
    if not prof.profile_memory:
        raise RuntimeError("memory_timeline() needs profile(profile_memory=True)")
    return MemoryTimeline(recording)


def export_timeline(prof: Any, path: str | os.PathLike[str]) -> None:
    """Write the live bytes of a profile over time: a page for .html, else PyTorch's JSON, compressed for .gz.

    RuntimeError if it didn't record memory.
    """
    timeline, name = timeline_of(prof), os.fspath(path)
    if name.endswith(".html"):
        text = page_of(timeline)
    else:
        text = json.dumps(raw_changes(prof) if name.endswith("raw.json.gz") else sizes_by_category(prof))
    if name.endswith(".gz"):
        with gzip.open(path, "wt", encoding="utf-8") as packed:
            packed.write(text)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def sizes_by_category(prof: Any) -> list[Any]:
    """[times in us, [[0, bytes of each category], ...]]. All are in the category "unknown", the last of PyTorch's eight.

    It begins with the blocks that are older than the recording and are given back in it.
    """
    times: list[int] = []
    sizes: list[list[int]] = []
    for time, _, nbytes, _ in raw_changes(prof):
        now = (time if time >= 0 else prof.recording.wall) // 1000
        before = sizes[-1][CATEGORIES] if sizes else 0
        if not times or now != times[-1]:
            times.append(now)
            sizes.append([0] * (CATEGORIES + 1))
        sizes[-1][CATEGORIES] = before + nbytes
    return [times, sizes]


def raw_changes(prof: Any) -> list[tuple[int, int, int, int]]:
    """(ns since 1970, or -1; 1: alive before, 2: taken, 4: given back; bytes; category), as PyTorch's .raw.json.gz has it."""
    recording, changes = prof.recording, list(changes_of(prof.recording))
    unknown = CATEGORIES - 1
    found = [(-1, 1, -change.nbytes, unknown) for change in changes if change.older]
    for change in changes:
        time = recording.memory[change.position].time - recording.begin + recording.wall
        found.append((time, 2 if change.nbytes > 0 else 4, change.nbytes, unknown))
    return found


def page_of(timeline: MemoryTimeline) -> str:
    """One HTML file without scripts or network: the picture, and the memory held at the peak."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Memory over time</title>'
        f"<style>{STYLE}</style></head><body><h1>Memory over time</h1>{timeline._repr_html_()}</body></html>\n"
    )
