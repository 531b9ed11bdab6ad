"""From a recording to FunctionEvents."""

from .._core.runtime.raw_events import Array, Frame
from ._event_list import EventList
from ._events import FunctionEvent
from ._flops import WHOLES, flops_of
from ._operands import frames_as_text, shapes_of, strides_of, types_of
from ._recording import Recording, is_step

_SCOPES = {"backward": 1, "region": 7}


def function_events_of(recording: Recording, *, profile_memory: bool = False, with_flops: bool = False) -> EventList:
    """All events of a recording by their start, each with its children and its parent, and memory outside of events."""
    made: list[FunctionEvent] = []
    texts: dict[tuple[Frame, ...], list[str]] = {}
    origin, names, stacks, total = recording.begin, recording.names, recording.stacks, recording.total_bytes
    for i, raw in enumerate(recording.events):
        stack = stacks[i]
        if stack not in texts:
            texts[stack] = frames_as_text(stack)
        is_region = raw.kind == "region"
        forward = recording.forward[i]
        event = FunctionEvent(
            i,
            "ProfilerStep*" if is_region and is_step(raw.name) else names[i],
            raw.thread + 1,
            (raw.start - origin) / 1000,
            (raw.end - origin) / 1000,
            fwd_thread=recording.events[forward].thread + 1 if forward >= 0 else 0,
            stack=texts[stack],
            scope=_SCOPES.get(raw.kind, 0),
            cpu_memory_usage=total[i],
            sequence_nr=recording.sequence_numbers[i],
            trace_name=names[i],
            is_user_annotation=is_region,
        )
        if raw.operands:
            _add_operands(event, raw.operands)
        if raw.parent >= 0:
            made[raw.parent].append_cpu_child(event)
            event.set_cpu_parent(made[raw.parent])
        made.append(event)
    if with_flops:
        _count_flops(made)
    ordered = [made[i] for i in recording.in_order()]
    if profile_memory:
        ordered = sorted(ordered + _memory_outside(recording, len(made)), key=lambda event: event.time_range.start)
    return EventList(ordered, profile_memory=profile_memory, with_flops=with_flops, is_nested=True)


def _add_operands(event: FunctionEvent, operands: tuple[Array, ...]) -> None:
    event.input_shapes = event.structured_input_shapes = shapes_of(operands)
    event.structured_input_strides = strides_of(operands)
    event.input_dtypes = types_of(operands)


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
