"""profile: torch.profiler's context manager (facade)."""

import importlib
import json
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from .._core.runtime.once import warn_user
from ._event_list import EventList
from ._events import FunctionEventAvg
from ._model import model_of
from ._record_function import record_function
from ._recording import Recording
from ._schedule import ProfilerAction, checked_activities, supported_activities
from ._session import BUFFER_EVENTS, Session
from ._steps import TRANSITIONS, always_record


class profile:
    """``with profile() as prof`` records operations, backward nodes, phases of the engine and named regions of a block.

    `record_shapes` keeps the shapes of operands, `profile_memory` counts allocated and freed memory, `with_stack` keeps
    whole stacks instead of one line, `with_flops` counts operations of products. A `schedule` says in which steps to record;
    `step()` ends a step, and `on_trace_ready(prof)` is called at the end of each cycle. `acc_events` keeps the events of
    former cycles. `buffer_events` is the capacity for events of each thread; a UserWarning says how many were lost.
    Profilers may be nested. Device activities are dropped with a warning; AssertionError if none is left. `with_modules`
    changes nothing, as in PyTorch for modules that weren't compiled.

    >>> import autograd_cy as ag
    >>> from autograd_cy.profiler import profile
    >>> x = ag.ones(3, requires_grad=True)
    >>> with profile(record_shapes=True) as prof:
    ...     (x * x).sum().backward()
    >>> {"aten::mul", "MulBackward0"} <= {average.key for average in prof.key_averages()}
    True
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[["profile"], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        buffer_events: int = BUFFER_EVENTS,
    ):
        self.activities = supported_activities() if activities is None else checked_activities(activities)
        if use_cuda:
            warn_user("CUDA is not available, disabling CUDA profiling")
        if execution_trace_observer is not None:
            raise NotImplementedError("profile: execution traces are PyTorch's, this package writes none (yet)")
        if experimental_config is not None:
            warn_user("profile: experimental_config is for PyTorch's libraries, it changes nothing here")
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops, self.with_modules, self.acc_events = with_flops, with_modules, acc_events
        self.profiler: Session | None = None
        self._session = Session(
            record_shapes=record_shapes, with_flops=with_flops, profile_memory=profile_memory, with_stack=with_stack,
            acc_events=acc_events, buffer_events=buffer_events, trace_id_of=custom_trace_id_callback,
        )  # fmt: skip
        self.on_trace_ready = on_trace_ready
        self.record_steps = schedule is not None
        self.schedule = schedule if schedule is not None else always_record
        self.step_num = 0
        self.current_action = self._action_of(0)
        self._step_region: record_function | None = None

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """start() begins the first step."""
        self._change(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """stop() ends the last step and the recording."""
        self._end_step()
        self._change(self.current_action, None)

    def step(self) -> None:
        """step() ends a step and begins the next; with a schedule, the action may change."""
        self._end_step()
        before = self.current_action
        self.current_action = self._action_of(self.step_num + 1)
        self.step_num += 1
        self._change(before, self.current_action)
        self._begin_step()

    def _action_of(self, step: int) -> ProfilerAction:
        action = self.schedule(step)
        if action is ProfilerAction.DEVICE_STOPPED:
            raise ValueError(
                "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be returned by a "
                "user-provided schedule"
            )
        return action

    def _begin_step(self) -> None:
        if self.record_steps:
            self._step_region = record_function(f"ProfilerStep#{self.step_num}")
            self._step_region.__enter__()

    def _end_step(self) -> None:
        region, self._step_region = self._step_region, None
        if region is not None:
            region.__exit__(None, None, None)

    def _change(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        for act in TRANSITIONS.get((before, after), ()):
            if act == "wrong":
                warn_user(f"Incorrect schedule: {before.name} followed by {after.name if after else None}")
            else:
                getattr(self, act)()

    def prepare_trace(self) -> None:
        """prepare_trace() gets the buffers ready."""
        self.profiler = self._session
        self._session.prepare()

    def start_trace(self) -> None:
        """start_trace() records from now on."""
        self._session.start()

    def stop_trace(self) -> None:
        """stop_trace() ends the recording."""
        self._session.stop()

    def _abandon(self) -> None:
        if self._session.recording is None:
            self._session.start()
            self._session.stop()
        else:  # what the last cycle has recorded stays
            self._session.abandon()

    def _trace_ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _results(self, doing: str) -> Session:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {doing}")
        return self.profiler

    @property
    def recording(self) -> Recording:
        """The raw events and allocations of the last cycle, or of all with acc_events."""
        return self._results("accessing events").recorded()

    def events(self) -> EventList:
        """events() is the list of all FunctionEvents, by their start."""
        return self._results("accessing events").function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """key_averages() has the sums of events by name; optionally also by input shapes and by the n innermost frames.

        Shapes need record_shapes=True, more than one frame with_stack=True.
        """
        return self._results("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def total_average(self) -> FunctionEventAvg:
        """total_average() is the sum of all events."""
        return self._results("accessing events").total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of all self times in us."""
        return self._results("accessing events").self_cpu_time_total

    def _repr_html_(self) -> str:
        if self.profiler is None or self.profiler.recording is None:
            return "<p>The profiler has recorded nothing yet.</p>"
        averages = self.key_averages()
        averages.sort(key=lambda average: -average.self_cpu_time_total)
        return averages._repr_html_()

    def export_chrome_trace(self, path: str | os.PathLike[str], use_python_export: bool = False) -> None:
        """export_chrome_trace(path) writes the last cycle for Perfetto; compressed if path ends in .gz."""
        self._results("exporting chrome trace").export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """export_stacks(path) writes stacks with their self time in us, for flame graphs. It needs with_stack=True."""
        self._results("exporting stacks").export_stacks(path, metric)

    def memory_timeline(self) -> Any:
        """memory_timeline() is the memory alive over time, its peak, and the lines that held it. Needs profile_memory=True.

        It counts arrays of 64 kB and more that operations made.
        """
        self._results("looking at the memory timeline")
        return _part("_memory").timeline_of(self)

    def export_memory_timeline(self, path: str | os.PathLike[str], device: str | None = None) -> None:
        """export_memory_timeline(path) writes the live bytes over time. It needs profile_memory=True.

        A page with a picture for .html, single changes for .raw.json.gz, else PyTorch's [times in us, bytes by category],
        where all categories are "unknown". Paths that end in .gz are compressed.
        """
        self._results("exporting the memory timeline")
        _part("_memory").export_timeline(self, path)

    def export_html(self, path: str | os.PathLike[str], graph: Any = None) -> None:
        """export_html(path) writes one page with all that is known: flame chart, table, lines, hints, memory.

        The page also draws the graph of the tensor `graph`, with nodes of the same name and line merged. Their saved memory is
        known only until a backward frees it.
        """
        text = _part("_page").render(model_of(self, graph))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def hints(self) -> Any:
        """hints() are the lines of the user's code that lose time in copies, casts and broadcasts, with the gain."""
        self._results("looking for hints")
        return _part("_hints").hints_of(self)

    def overhead(self) -> Any:
        """overhead() splits each operation's time into arithmetic and overhead."""
        self._results("measuring overhead")
        return _part("_overhead").overhead_of(self)

    def add_metadata(self, key: str, value: str) -> None:
        """add_metadata(key, value) puts a text into the trace."""
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """add_metadata_json(key, value) puts JSON into the trace. ValueError if it is none."""
        json.loads(value)
        self._session.metadata[key] = value

    preset_metadata_json = add_metadata_json

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """toggle_collection_dynamic() is not supported: use a schedule, or stop() and start()."""
        raise NotImplementedError("toggle_collection_dynamic: use a schedule, or stop() and start() with acc_events=True")

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """set_custom_trace_id_callback(f) has f() name each cycle."""
        self._session.trace_id_of = callback

    def get_trace_id(self) -> str | None:
        """get_trace_id() is the name of the cycle, None before the first."""
        return None if self.profiler is None else self.profiler.trace_id


def _part(name: str) -> Any:
    """Import a rarely used part of the profiler."""
    return importlib.import_module(f"{__package__}.{name}")
