"""EventList: the events of a recording, or their sums by name, with the ways to look at them (facade)."""

from collections.abc import Iterable
from typing import Any

from ._events import AnyEvent, FunctionEvent, FunctionEventAvg, nest
from ._table import TableOptions, html_of, text_of, total_self_time
from ._trace import write_events

_METRICS = ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]
_NO_SPACE = str.maketrans(" ;\t\n", "____")


class EventList(list[AnyEvent]):
    """``EventList(events)`` is a list of events with their table, their sums by name, and exports to files.

    >>> from autograd_cy.autograd.profiler_util import EventList, FunctionEvent
    >>> events = EventList([FunctionEvent(0, "step", 1, 0.0, 10.0), FunctionEvent(1, "aten::mul", 1, 2.0, 5.0)])
    >>> events._build_tree()
    >>> [(average.key, average.self_cpu_time_total) for average in events.key_averages()]
    [('step', 7.0), ('aten::mul', 3.0)]
    """

    def __init__(
        self,
        events: Iterable[AnyEvent] = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
        is_nested: bool = False,
    ):
        super().__init__(events)
        self._use_device, self._profile_memory, self._with_flops = use_device, profile_memory, with_flops
        self._tree_built = is_nested

    def _build_tree(self) -> None:
        """Make events children of those around them."""
        nest(event for event in self if isinstance(event, FunctionEvent))
        self._tree_built = True

    _populate_cpu_children = _build_tree

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return html_of(self, TableOptions(profile_memory=self._profile_memory, with_flops=self._with_flops))

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of all self times in us."""
        return total_self_time(self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """table(sort_by, row_limit=100) is the text of a table with one row for each event.

        `sort_by` is the sort key, largest first: cpu_time, cpu_time_total, self_cpu_time_total, cpu_memory_usage,
        self_cpu_memory_usage, count, flops, or any other number of an event. `row_limit=-1` shows all rows. `time_unit` is
        "s", "ms" or "us"; without it each time has its own. AttributeError for a key that events have not.
        """
        events = self if sort_by is None else sorted(self, key=lambda event: _value(event, sort_by), reverse=True)
        options = TableOptions(
            row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width, header,
            top_level_events_only, time_unit, self._profile_memory, self._with_flops,
        )  # fmt: skip
        return text_of(events, options)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> "EventList":
        """key_averages() has the sums of all events of a name; at wish apart by input shapes, and by the n innermost frames.

        AssertionError unless the events form a tree (`_build_tree`). Operations have no overloads here.
        """
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        sums: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            key = (event.key, event.is_user_annotation, shapes, tuple(event.stack[:group_by_stack_n]))
            if key not in sums:
                sums[key] = FunctionEventAvg()
            sums[key].add(event)
        for average in sums.values():
            average.stack = average.stack[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
        return EventList(sums.values(), profile_memory=self._profile_memory, with_flops=self._with_flops)

    def total_average(self) -> FunctionEventAvg:
        """total_average() is the sum of all events, under the key "Total"."""
        total = FunctionEventAvg()
        for event in self:
            total.add_numbers(event)
        total.key = "Total"
        return total

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics that export_stacks takes; device metrics are zero here."""
        return list(_METRICS)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """export_stacks(path, metric) writes the metric, in whole us, by stack, for flame graphs.

        A line is `outer;inner;event 12`. ValueError for a metric that isn't listed. (PyTorch's leave out the event's own name
        and what took less than 1 us; here such events are added up.)
        """
        if metric not in _METRICS:
            raise ValueError(f"metric should be one of: {_METRICS}")
        sums: dict[str, float] = {}
        for event in self:
            if event.stack:
                line = ";".join([*(entry.translate(_NO_SPACE) for entry in reversed(event.stack)), str(event.key)])
                sums[line] = sums.get(line, 0.0) + _value(event, metric)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line} {round(value)}\n" for line, value in sums.items() if round(value) > 0)

    def export_chrome_trace(self, path: str) -> None:
        """export_chrome_trace(path) writes the events for chrome://tracing and Perfetto, without arrows.

        The profiler's own export also has arrows from operations to their backward nodes.
        """
        write_events(path, [event for event in self if isinstance(event, FunctionEvent)])


def _value(event: AnyEvent, key: str) -> Any:
    for device in ("cuda", "xpu", "privateuse1"):
        key = key.replace(device, "device")
    return getattr(event, key)
