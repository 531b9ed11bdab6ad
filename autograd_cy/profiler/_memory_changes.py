"""Allocations and deallocations of memory blocks during a recording, and the blocks that each line holds (facade).

NOTE [Memory over time]
  1. Only blocks of the pool count: memory of results of 64 kB and more. Smaller results, and arrays that NumPy made (`ones`,
     `from_numpy`), don't.
  2. The curve is relative to the start and begins at 0. Freeing a block that is older than the recording makes it fall, like
     the process's own count; such blocks belong to no line and are counted separately.
  3. If a block is allocated where one was alive, that one was freed between two recordings, which `acc_events=True` joins.
  4. The line whose operation allocated memory holds it; in the backward, the line that recorded the node.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .._core.inspection.raw_events import Frame
from ._recording import Recording

NOWHERE = Frame("", -1, "")  # of memory that no operation took


class Change(NamedTuple):
    """A block that was allocated (`nbytes` > 0) or freed, its allocating line, and if it is `older` than the recording."""

    position: int
    nbytes: int
    place: Frame
    older: bool


def changes_of(recording: Recording, stop: int | None = None) -> Iterator[Change]:
    """All changes in order; two changes at one position if a block had been freed between recordings."""
    living: dict[int, tuple[int, Frame]] = {}
    for index, allocation in enumerate(recording.memory[:stop]):
        nbytes, place = living.pop(allocation.address, (0, NOWHERE))
        if nbytes:
            yield Change(index, -nbytes, place, False)
        if allocation.nbytes > 0:
            place = place_of(recording, allocation.event)
            living[allocation.address] = allocation.nbytes, place
            yield Change(index, allocation.nbytes, place, False)
        elif not nbytes:
            yield Change(index, allocation.nbytes, NOWHERE, True)


def place_of(recording: Recording, event: int) -> Frame:
    """The line of the user's code that an event comes from; NOWHERE for a region."""
    while event >= 0:
        if recording.events[event].kind == "region":
            break
        if recording.stacks[event]:
            return recording.stacks[event][0]
        event = recording.events[event].parent
    return NOWHERE


def lines_over_time(recording: Recording, places: Iterable[int], n: int) -> tuple[list[Frame | None], list[list[int]]]:
    """The bytes that lines hold after so many changes each: the n lines that ever hold most, then None for all others.

    `places` rise. Each row has one entry for each of them.
    """
    wanted, sums = list(places), {NOWHERE: 0}
    rows: list[dict[Frame, int]] = []
    most: dict[Frame, int] = {}
    for change in changes_of(recording):
        while len(rows) < len(wanted) and wanted[len(rows)] <= change.position:
            rows.append(dict(sums))
        if not change.older:
            sums[change.place] = sums.get(change.place, 0) + change.nbytes
            most[change.place] = max(most.get(change.place, 0), sums[change.place])
    rows += [sums] * (len(wanted) - len(rows))
    lines: list[Frame | None] = [*sorted(most, key=lambda place: -most[place])[:n]]
    shown = [[row.get(line, 0) for row in rows] for line in lines if line is not None]
    others = [sum(row.values()) - sum(held[k] for held in shown) for k, row in enumerate(rows)]
    return ([*lines, None], [*shown, others]) if any(others) else (lines, shown)
