"""A recording of the profiler, and derived data of each event: names, self times, bytes, origins."""

import functools
from collections import defaultdict

from .._core.inspection.raw_events import Frame, RawAllocation, RawEvent

_RECORDING = ("op", "function")  # the kinds of events that record nodes
_NUMBERED = ("op", "function", "backward")
_PRODUCED_BY_USERS = ("function", "hook")  # operations inside have their own place in the user's code


class Recording:
    """The events and allocations between the start and the end of a recording; times in ns of time.perf_counter_ns().

    `threads` has (ident, name) for each thread, `begin` and `end` are the window, `wall` is time.time_ns() at its begin.
    The lists that are derived run parallel to `events`.
    """

    def __init__(
        self,
        events: list[RawEvent],
        memory: list[RawAllocation],
        threads: list[tuple[int, str]],
        dropped: int = 0,
        begin: int = 0,
        end: int = 0,
        wall: int = 0,
    ):
        self.events, self.memory, self.threads, self.dropped = events, memory, threads, dropped
        self.begin, self.wall = min([begin, *(event.start for event in events)]), wall
        self.end = max([end, *(event.end for event in events)])

    def followed_by(self, later: "Recording") -> "Recording":
        """Both recordings as one: what acc_events=True collects."""
        threads = list(self.threads)
        for thread in later.threads:
            if thread not in threads:
                threads.append(thread)
        place = [threads.index(thread) for thread in later.threads]
        shift = len(self.events)

        def moved(index: int) -> int:
            return index + shift if index >= 0 else -1

        events = [e._replace(thread=place[e.thread], parent=moved(e.parent)) for e in later.events]
        memory = [m._replace(thread=place[m.thread], event=moved(m.event)) for m in later.memory]
        dropped = self.dropped + later.dropped
        return Recording(self.events + events, self.memory + memory, threads, dropped, self.begin, later.end, self.wall)

    @functools.cached_property
    def names(self) -> list[str]:
        """What users see: aten::mul, MulBackward0, torch::autograd::AccumulateGrad, ProfilerStep#3."""
        known: dict[tuple[str, str], str] = {}
        for event in self.events:
            if (event.kind, event.name) not in known:
                known[event.kind, event.name] = shown_name(event.kind, event.name)
        return [known[event.kind, event.name] for event in self.events]

    @functools.cached_property
    def sequence_numbers(self) -> list[int]:
        """The number of the first node that an operation recorded, or of the node that runs; -1 for all others."""
        return [e.sequence_nr if e.kind in _NUMBERED else -1 for e in self.events]

    @functools.cached_property
    def self_times(self) -> list[int]:
        """The time of each event without the events directly inside it. A shared loop counts as part of its event."""
        times = [event.end - event.start for event in self.events]
        for i, event in enumerate(self.events):
            if event.parent >= 0:
                if event.kind == "threads":
                    times[i] = 0
                else:
                    times[event.parent] -= event.end - event.start
        return times

    @functools.cached_property
    def depths(self) -> list[int]:
        depths: list[int] = []
        for event in self.events:
            depths.append(depths[event.parent] + 1 if event.parent >= 0 else 0)
        return depths

    @functools.cached_property
    def self_bytes(self) -> list[int]:
        """The bytes that each event allocated minus those it freed, without the events inside it."""
        own = [0] * len(self.events)
        for allocation in self.memory:
            if allocation.event >= 0:
                own[allocation.event] += allocation.nbytes
        return own

    @functools.cached_property
    def total_bytes(self) -> list[int]:
        total = list(self.self_bytes)
        for i in range(len(total) - 1, -1, -1):  # an event stands after the one around it
            parent = self.events[i].parent
            if parent >= 0:
                total[parent] += total[i]
        return total

    @functools.cached_property
    def forward(self) -> list[int]:
        """For each backward event the operation that recorded its node, else -1.

        It is the innermost one with the node's number. Threads number nodes independently, so an operation of the event's
        own thread is preferred, and among several the last one before the event.
        """
        recorded: dict[int, list[int]] = defaultdict(list)
        for i, event in enumerate(self.events):
            if event.kind in _RECORDING and event.n_nodes:
                for number in range(event.sequence_nr, event.sequence_nr + event.n_nodes):
                    recorded[number].append(i)  # outer operations before those inside them
        found = [-1] * len(self.events)
        for i, event in enumerate(self.events):
            if event.kind == "backward" and event.sequence_nr in recorded:
                found[i] = self._latest(recorded[event.sequence_nr], event)
        return found

    def _latest(self, candidates: list[int], backward: RawEvent) -> int:
        if len(candidates) == 1:  # as almost always
            return candidates[0] if self.events[candidates[0]].start <= backward.start else -1
        before = [i for i in candidates if self.events[i].start <= backward.start]
        own = [i for i in before if self.events[i].thread == backward.thread]
        return max(own or before, default=-1, key=lambda i: (self.events[i].start, i))

    @functools.cached_property
    def stacks(self) -> list[tuple[Frame, ...]]:
        """Where in the user's code each event comes from, innermost frame first.

        A backward event, and the operations inside it, come from the line of the operation that recorded the node. Operations
        in a Function's backward or a hook come from their own lines.
        """
        stacks: list[tuple[Frame, ...]] = []
        inherits: list[bool] = []
        for i, event in enumerate(self.events):
            stack, inherited = event.stack, False
            if event.kind == "backward":
                stack, inherited = self.events[self.forward[i]].stack if self.forward[i] >= 0 else event.stack, True
            elif event.parent >= 0 and inherits[event.parent] and event.kind not in _PRODUCED_BY_USERS:
                stack, inherited = stacks[event.parent], True
            stacks.append(stack)
            inherits.append(inherited)
        return stacks

    def live_bytes(self) -> tuple[list[int], list[int]]:
        """The begin and the times of all allocations, and how many bytes more than at the begin were alive after each.

        Empty lists if there were none. Case 3 of NOTE [Memory over time].
        """
        if not self.memory:
            return [], []
        times, live, now = [self.begin], [0], 0
        living: dict[int, int] = {}
        for allocation in self.memory:
            now += allocation.nbytes
            before = living.pop(allocation.address, 0)
            if allocation.nbytes > 0:
                now -= before
                living[allocation.address] = allocation.nbytes
            times.append(allocation.time)
            live.append(now)
        return times, live

    def in_order(self) -> list[int]:
        """The indices of all events by their start; an event comes before those inside it."""
        return sorted(range(len(self.events)), key=lambda i: self.events[i].start)  # stable: keeps the order in a thread


def is_step(name: str) -> bool:
    """Whether a region is a step of the profiler."""
    return name.startswith("ProfilerStep#")


def shown_name(kind: str, name: str) -> str:
    """The name that users see, which is PyTorch's where there is one."""
    if kind == "op":
        family, _, last = name.rpartition(".")
        return f"aten::{family}_{last}" if family in ("fft", "linalg", "special") else f"aten::{last}"
    if kind == "backward" and name == "AccumulateGrad":
        return "torch::autograd::AccumulateGrad"
    return f"autograd::{kind}::{name}" if kind in ("engine", "threads") else name
