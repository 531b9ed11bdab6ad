"""From a recording to FunctionEvents."""

from .._core.inspection.raw_events import Array
from ._event_list import EventList
from ._events import FunctionEvent
from ._flops import WHOLES, flops_of
from ._operands import ByLayout, frames_as_text, shapes_of, strides_of, types_of
from ._recording import Recording, is_step

_SCOPES = {"backward": 1, "region": 7}


def function_events_of(recording: Recording, *, profile_memory: bool = False, with_flops: bool = False) -> EventList:
    """All events of a recording by their start, each with its children and its parent, and memory outside of events."""
    made: list[FunctionEvent] = []
    texts: dict[int, list[str]] = {}  # by identity: a recording has the same stack for many events
    described = ByLayout(_description_of)
    for i, raw in enumerate(recording.events):
        event = _event_of(recording, i)
        stack, operands = recording.stacks[i], raw.operands
        if id(stack) not in texts:
            texts[id(stack)] = frames_as_text(stack)
        event.stack = texts[id(stack)]
        if operands:
            event.input_shapes, event.structured_input_strides, event.input_dtypes = described.of(operands)
        if raw.parent >= 0:
            made[raw.parent].append_cpu_child(event)
            event.set_cpu_parent(made[raw.parent])
            if raw.kind == "threads":  # it is the operation's own time
                made[raw.parent].self_cpu_time_total += event.cpu_time_total
                event.self_cpu_time_total = 0.0
        made.append(event)
    if with_flops:
        _count_flops(made)
    ordered = [made[i] for i in recording.in_order()]
    outside = _memory_outside(recording, len(made)) if profile_memory else []
    if outside:
        ordered = sorted(ordered + outside, key=lambda event: event.start_us)
    return EventList(ordered, profile_memory=profile_memory, with_flops=with_flops, is_nested=True)


def _description_of(operands: tuple[Array, ...]) -> tuple[list[list[int]], list[list[int]], list[str]]:
    return shapes_of(operands), strides_of(operands), types_of(operands)


def _event_of(recording: Recording, i: int) -> FunctionEvent:
    raw, name, forward = recording.events[i], recording.names[i], recording.forward[i]
    is_region = raw.kind == "region"
    return FunctionEvent(
        i,
        "ProfilerStep*" if is_region and is_step(name) else name,
        raw.thread + 1,
        (raw.start - recording.begin) / 1000,
        (raw.end - recording.begin) / 1000,
        fwd_thread=recording.events[forward].thread + 1 if forward >= 0 else 0,
        scope=_SCOPES.get(raw.kind, 0),
        cpu_memory_usage=recording.total_bytes[i],
        sequence_nr=recording.sequence_numbers[i],
        trace_name=name,
        is_user_annotation=is_region,
    )


def _count_flops(events: list[FunctionEvent]) -> None:
    for event in reversed(events):  # children first
        if event.name not in WHOLES or not any(child.flops for child in event.cpu_children):
            event.flops = flops_of(event.name, event.input_shapes)


def _memory_outside(recording: Recording, first_id: int) -> list[FunctionEvent]:
    """An event without duration for each allocation that no event was around, under PyTorch's name for it."""
    outside = [allocation for allocation in recording.memory if allocation.event < 0]
    times = [(allocation.time - recording.begin) / 1000 for allocation in outside]
    return [
        FunctionEvent(first_id + k, "[memory]", a.thread + 1, times[k], times[k], cpu_memory_usage=a.nbytes)
        for k, a in enumerate(outside)
    ]
