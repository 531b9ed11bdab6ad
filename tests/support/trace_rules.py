"""The rules by which Perfetto's trace processor takes a trace: what breaks one is dropped there, without a word.

Its sources: importers/json (how times and identifiers are read), importers/common/slice_tracker.cc (which slices nest) and
flow_tracker.cc (which slices an arrow joins).
"""

import gzip
import json
import math
from collections import defaultdict

MAX_DEPTH = 512


def read_trace(path):
    """The trace in a file."""
    opened = gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return json.loads(file.read(), parse_constant=lambda text: (_ for _ in ()).throw(ValueError(text)))


def ns_of(time):
    """A time as older releases read it, and newer ones."""
    cut, rounded = int(time * 1000.0), math.floor(time * 1000.0 + 0.5)
    assert cut == rounded, f"{time} is {cut} ns for some releases, {rounded} ns for others"
    return cut


def checked(trace):
    """The arrows of a trace, as pairs of the slices that they join. AssertionError where a rule is broken."""
    assert trace.get("displayTimeUnit", "ms") == "ms", "with ns times are read in another unit"
    events = trace["traceEvents"]
    for event in events:
        check_fields(event)
    timed = [event for event in events if event["ph"] != "M"]
    times = [ns_of(event["ts"]) for event in timed]
    assert times == sorted(times), "not sorted"
    assert all(time >= 0 for time in times), "negative times are dropped"
    return joined(timed)


def check_fields(event):
    assert event["ph"] in ("X", "s", "f", "C", "M"), event
    assert isinstance(event["name"], str), event
    for key in ("pid", "tid"):
        assert type(event[key]) is int and 0 <= event[key] < 2**32, event
    if event["ph"] == "X":
        assert event["dur"] >= 0, event
    if event["ph"] == "C":
        assert all(isinstance(value, (int, float)) for value in event["args"].values()), event


def joined(timed):
    """Go through events as they come: slices open and close, arrows start and end in the innermost open one."""
    stacks = defaultdict(list)
    begun, arrows = {}, []
    for event in timed:
        time, stack = ns_of(event["ts"]), stacks[event["pid"], event["tid"]]
        if event["ph"] == "C":
            continue
        while stack and is_over(stack[-1], time, event):
            stack.pop()
        if event["ph"] == "X":
            end = time + ns_of(event["dur"])
            assert not stack or end <= end_of(stack[-1]), f"dropped, it overlaps {stack[-1]}: {event}"
            assert len(stack) < MAX_DEPTH, "dropped, too deep"
            stack.append(event)
            continue
        assert stack, f"an arrow without a slice: {event}"
        key = event["cat"], event["id"]
        if event["ph"] == "s":
            assert key not in begun, f"two arrows with one number: {event}"
            begun[key] = stack[-1]
        else:
            assert event.get("bp") == "e", f"it would end in the next slice: {event}"
            arrows.append((begun.pop(key), stack[-1]))
    assert not begun, "arrows without an end"
    return arrows


def is_over(slice_, time, event):
    both_empty = event["ph"] == "X" and slice_["dur"] < 0.001 and event["dur"] < 0.001
    return end_of(slice_) < time or (end_of(slice_) == time and not both_empty)


def end_of(slice_):
    return ns_of(slice_["ts"]) + ns_of(slice_["dur"])


def slices_of(trace, **wanted):
    """The slices with these fields."""
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and all(e[key] == value for key, value in wanted.items())]
