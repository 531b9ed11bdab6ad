"""FunctionEvent and FunctionEventAvg: one event of the profiler, and the sum of events with the same name (facade)."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Union

from ._format import format_time


class Interval:
    """``Interval(start, end)`` is a span of time in us since the profiler was started.

    >>> from autograd_cy.autograd.profiler_util import Interval
    >>> Interval(1.5, 4.0).elapsed_us()
    2.5
    """

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float):
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """The length of the interval."""
        return self.end - self.start


class Kernel(NamedTuple):
    """A kernel on a device; there are none here.

    >>> from autograd_cy.autograd.profiler_util import Kernel
    >>> Kernel("gemm", 0, 1.5).name
    'gemm'
    """

    name: str
    device: int
    duration: float


class FormattedTimesMixin:
    """Times as text, and averages, for classes with sums of times in us and a count. Nothing runs on a device here.

    >>> from autograd_cy.autograd.profiler_util import FunctionEvent
    >>> FunctionEvent(0, "aten::mul", thread=1, start_us=10.0, end_us=12.5).cpu_time_str
    '2.500us'
    """

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_time_total = self_device_time_total = device_time = 0.0
    device_memory_usage = self_device_memory_usage = 0
    device_time_str = device_time_total_str = self_device_time_total_str = format_time(0.0)
    use_device: str | None = None
    node_id = -1
    is_remote = is_legacy = False
    overload_name = ""

    @property
    def cpu_time(self) -> float:
        """The average time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """The average time of a call, with its unit."""
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """The time of all calls, with its unit."""
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """The time of all calls without nested calls, with its unit."""
        return format_time(self.self_cpu_time_total)


class FunctionEvent(FormattedTimesMixin):
    """``FunctionEvent(id, name, thread, start_us, end_us)`` is one call of an operation, or one region; made by the profiler.

    `time_range` is in us since the start, `cpu_children` and `cpu_parent` are the events inside and around it in its
    thread. `self_cpu_time_total` is its time without its children. `scope` is 0 for operations, 1 for backward nodes, 7 for
    regions that users named. `fwd_thread` is the thread in which a backward node was recorded, else 0.
    `cpu_memory_usage` is the allocated minus the freed memory. `node_id` is the caller's number of a machine.

    >>> from autograd_cy.autograd.profiler_util import FunctionEvent
    >>> walk = FunctionEvent(0, "step", thread=1, start_us=0.0, end_us=10.0)
    >>> walk.append_cpu_child(FunctionEvent(1, "aten::mul", thread=1, start_us=2.0, end_us=5.0))
    >>> walk.cpu_time_total, walk.self_cpu_time_total
    (10.0, 7.0)
    """

    device_index = 0
    is_python_function = False
    event_metadata = activity_type = None
    external_id = linked_correlation_id = 0

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        fwd_thread: int = 0,
        input_shapes: list[list[int]] | None = None,
        stack: list[str] | None = None,
        scope: int = 0,
        cpu_memory_usage: int = 0,
        is_async: bool = False,
        sequence_nr: int = -1,
        flops: int = 0,
        trace_name: str | None = None,
        is_user_annotation: bool = False,
        node_id: int = -1,
    ):
        self.node_id = node_id
        self.id, self.name, self.thread, self.fwd_thread = id, name, thread, fwd_thread
        self.key, self.trace_name = name, name if trace_name is None else trace_name
        self.start_us, self.end_us = start_us, end_us
        self.count = 1
        self.cpu_time_total = end_us - start_us
        self.self_cpu_time_total = 0.0 if is_async else end_us - start_us
        self.cpu_parent: FunctionEvent | None = None
        if input_shapes is not None:
            self.input_shapes = input_shapes
        if stack is not None:
            self.stack = stack
        self.scope, self.sequence_nr, self.flops = scope, sequence_nr, flops
        self.cpu_memory_usage = self.self_cpu_memory_usage = cpu_memory_usage
        self.is_async, self.is_user_annotation = is_async, is_user_annotation
        self.device_resource_id = thread

    # created on demand: with empty lists in each event, the garbage collector would take most of the time

    @cached_property
    def time_range(self) -> Interval:
        """When it was, in us."""
        return Interval(self.start_us, self.end_us)

    @cached_property
    def cpu_children(self) -> list["FunctionEvent"]:
        """The events directly inside."""
        return []

    @cached_property
    def kernels(self) -> list[Kernel]:
        """Kernels on devices."""
        return []

    @cached_property
    def input_shapes(self) -> list[list[int]]:
        """The shapes of operands, if they were recorded."""
        return []

    @cached_property
    def structured_input_shapes(self) -> list[list[int]]:
        """The shapes of operands."""
        return self.input_shapes

    @cached_property
    def structured_input_strides(self) -> list[list[int]]:
        """The strides of operands, in elements."""
        return []

    @cached_property
    def input_dtypes(self) -> list[str]:
        """The types of operands, by their names in C++."""
        return []

    @cached_property
    def concrete_inputs(self) -> list[Any]:
        """Arguments that are no tensors: they aren't recorded."""
        return []

    @cached_property
    def kwinputs(self) -> dict[str, Any]:
        """Arguments by their names: they aren't recorded."""
        return {}

    @cached_property
    def stack(self) -> list[str]:
        """The lines that led to it, innermost first."""
        return []

    def append_cpu_child(self, child: "FunctionEvent") -> None:
        """Put an event directly inside this one; its time and memory no longer count as this event's own."""
        self.cpu_children.append(child)
        self.self_cpu_time_total -= child.cpu_time_total
        self.self_cpu_memory_usage -= child.cpu_memory_usage

    def set_cpu_parent(self, parent: "FunctionEvent") -> None:
        """Set the event directly around this one."""
        self.cpu_parent = parent

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} start_us={self.time_range.start} "
            f"end_us={self.time_range.end} cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} is_async={self.is_async} "
            f"seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """``FunctionEventAvg()`` adds up the events of one name: `key`, `count`, and the sums of times, memory and flops.

    >>> from autograd_cy.autograd.profiler_util import FunctionEvent, FunctionEventAvg
    >>> total = FunctionEventAvg()
    >>> for start in (0.0, 10.0):
    ...     total += FunctionEvent(0, "aten::mul", thread=1, start_us=start, end_us=start + 3.0)
    >>> total.key, total.count, total.cpu_time
    ('aten::mul', 2, 3.0)
    """

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = self.flops = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.input_shapes: Any = None
        self.stack: list[str] = []
        self.scope: int | None = None
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.is_async = self.is_user_annotation = False

    def add(self, other: Union[FunctionEvent, "FunctionEventAvg"]) -> "FunctionEventAvg":
        """Add an event, or other sums of the same key. AssertionError for another key."""
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            self.key, self.scope, self.stack, self.input_shapes = other.key, other.scope, other.stack, other.input_shapes
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
            self.is_async, self.is_user_annotation = other.is_async, other.is_user_annotation
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        return self.add_numbers(other)

    __iadd__ = add

    def add_numbers(self, other: Union[FunctionEvent, "FunctionEventAvg"]) -> "FunctionEventAvg":
        """Add times, memory, calls and flops, whatever the key."""
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.count += other.count
        self.flops += other.flops
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )


AnyEvent = FunctionEvent | FunctionEventAvg


def nest(events: Iterable[FunctionEvent]) -> None:
    """Make events children of those around them in their thread, by their times. Those that overlap partly stay apart."""
    stacks: dict[int, list[FunctionEvent]] = {}
    ordered = sorted((e for e in events if not e.is_async), key=lambda e: (e.time_range.start, -e.time_range.end))
    for event in ordered:
        around = stacks.setdefault(event.thread, [])
        while around and not _is_inside(event, around[-1]):
            around.pop()
        if around:
            around[-1].append_cpu_child(event)
            event.set_cpu_parent(around[-1])
        around.append(event)


def _is_inside(event: FunctionEvent, other: FunctionEvent) -> bool:
    return event.time_range.start < other.time_range.end and event.time_range.end <= other.time_range.end
