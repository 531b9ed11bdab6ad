"""A sequence of recorders and the last recording: code shared by torch.profiler's profiler and the older one."""

import os
import time
import uuid
from collections.abc import Callable
from typing import Any

from .._core.inspection.recorder import Recorder
from .._core.runtime.once import warn_once, warn_user
from ._event_list import EventList
from ._events import FunctionEventAvg
from ._function_events import function_events_of
from ._recording import Recording
from ._trace import write_recording

BUFFER_EVENTS = 1 << 18  # of each thread


class Session:
    """Records, and makes events on demand. `recording` has the raw data; None if there is none."""

    def __init__(
        self,
        *,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        acc_events: bool = False,
        buffer_events: int = BUFFER_EVENTS,
        trace_id_of: Callable[[], str] | None = None,
    ):
        if type(buffer_events) is not int or buffer_events < 1:
            raise ValueError(f"profile: buffer_events must be a positive int, got {buffer_events!r}")
        self.record_shapes = record_shapes or with_flops
        self.with_flops, self.profile_memory, self.with_stack = with_flops, profile_memory, with_stack
        self.acc_events, self.buffer_events, self.trace_id_of = acc_events, buffer_events, trace_id_of
        self.metadata: dict[str, str] = {}
        self.trace_id = ""
        self.recording: Recording | None = None
        self._recorder: Any = None
        self._wall = 0
        self._is_recording = False
        self._events: EventList | None = None

    def prepare(self) -> None:
        """Prepare the buffers. Former recordings are dropped unless events are accumulated."""
        if self._is_recording:
            raise RuntimeError("Profiler is already enabled on this thread")
        if self.recording is not None and not self.acc_events:
            warn_once(
                "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be "
                "reported. To keep events across cycles, set acc_events=True."
            )
        self.trace_id = self.trace_id_of() if self.trace_id_of is not None else f"{uuid.uuid4().int:032X}"
        self._recorder = Recorder(self.record_shapes, self.with_stack, self.profile_memory, self.buffer_events)

    def start(self) -> None:
        """Record from now on."""
        if self._recorder is None:
            raise AssertionError("Profiler must be initialized before starting trace")
        self._recorder.start()
        self._wall, self._is_recording = time.time_ns(), True

    def stop(self) -> None:
        """End the recording, and warn of events that had no room."""
        if self._recorder is None:
            raise AssertionError("Profiler must be initialized before stopping trace")
        recorder, self._recorder, self._is_recording = self._recorder, None, False
        recorder.stop()
        recording = Recording(
            recorder.events(), recorder.memory(), list(recorder.threads), recorder.dropped,
            recorder.start_time, recorder.stop_time, self._wall,
        )  # fmt: skip
        if self.acc_events and self.recording is not None:
            recording = self.recording.followed_by(recording)
        self.recording, self._events = recording, None
        if recorder.dropped:
            warn_user(
                f"The profiler has dropped {recorder.dropped} events: there is room for {self.buffer_events} of each thread. "
                f"profile(buffer_events=...) makes more, a schedule records fewer steps at a time."
            )
        if recorder.undescribed:
            warn_user(
                f"The profiler had no room for {recorder.undescribed} shapes and stacks: "
                f"profile(buffer_events=...) makes more."
            )

    def abandon(self) -> None:
        """Give up a recording that was prepared."""
        self._recorder = None

    def recorded(self) -> Recording:
        """The recording. AssertionError if there is none, RuntimeError while it is running."""
        if self._is_recording:
            raise RuntimeError("The profiler is still recording: its results are there after stop(), or the end of its block")
        if self.recording is None:
            raise AssertionError("Expected profiling results")
        return self.recording

    @property
    def function_events(self) -> EventList:
        """All events, made when they are first asked for."""
        recording = self.recorded()
        if self._events is None:
            self._events = function_events_of(recording, profile_memory=self.profile_memory, with_flops=self.with_flops)
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums by name: EventList.key_averages."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events: EventList.total_average."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of all self times in us."""
        return self.function_events.self_cpu_time_total

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The table of all events: EventList.table."""
        return self.function_events.table(*args, **kwargs)

    def export_chrome_trace(self, path: str | os.PathLike[str], metadata: dict[str, str] | None = None) -> None:
        """Write a trace for Perfetto, compressed if the path ends in .gz."""
        flags = ("profile_memory", "with_stack", "record_shapes", "with_flops")
        asked = {flag: "1" for flag in flags if getattr(self, flag)}
        known = {"trace_id": f'"{self.trace_id}"', **asked, **self.metadata, **(metadata or {})}
        write_recording(path, self.recorded(), known)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks for flame graphs: EventList.export_stacks. AssertionError unless stacks were recorded."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)
