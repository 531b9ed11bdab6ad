"""The table of a list of events, as text with PyTorch's columns, and as HTML for notebooks."""

import html
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ._events import AnyEvent
from ._format import format_memory, format_share, format_time_in, scale_of_flops

_WIDTH = 12  # of a column of numbers
_GAP = "  "


class TableOptions(NamedTuple):
    """The arguments of EventList.table, and the options of the profiler."""

    row_limit: int = 100
    max_src_column_width: int | None = 75
    max_name_column_width: int | None = 55
    max_shapes_column_width: int | None = 80
    header: str | None = None
    top_level_events_only: bool = False
    time_unit: str | None = None
    profile_memory: bool = False
    with_flops: bool = False


class Column(NamedTuple):
    """One column: its header, its width, and its lines for an event; the first line is in the event's own row."""

    header: str
    width: int
    cells: Callable[[AnyEvent], Sequence[str]]
    align: str = ">"


def total_self_time(events: Sequence[AnyEvent]) -> float:
    """The sum of self times in us."""
    return sum(event.self_cpu_time_total for event in events)


def columns_of(events: Sequence[AnyEvent], options: TableOptions) -> list[Column]:
    """The columns that these events need."""
    total, unit = total_self_time(events), options.time_unit
    columns = [
        _name_column(events, options.max_name_column_width),
        _number("Self CPU %", lambda e: format_share(e.self_cpu_time_total, total)),
        _number("Self CPU", lambda e: format_time_in(e.self_cpu_time_total, unit)),
        _number("CPU total %", lambda e: "0" if e.is_async else format_share(e.cpu_time_total, total)),
        _number("CPU total", lambda e: format_time_in(e.cpu_time_total, unit)),
        _number("CPU time avg", lambda e: format_time_in(e.cpu_time, unit)),
    ]
    if options.profile_memory:
        columns.append(_number("CPU Mem", lambda e: format_memory(e.cpu_memory_usage)))
        columns.append(_number("Self CPU Mem", lambda e: format_memory(e.self_cpu_memory_usage)))
    columns.append(_number("# of Calls", lambda e: str(e.count)))
    if any(event.input_shapes for event in events):
        widest = max(len(str(event.input_shapes)) for event in events) + 4
        width = _at_most(widest, options.max_shapes_column_width)
        columns.append(Column("Input Shapes", width, lambda e: [str(e.input_shapes)[:width]]))
    if any(event.stack for event in events):
        columns.append(_source_column(events, options.max_src_column_width))
    if options.with_flops and any(event.flops > 0 for event in events):
        scale, name = scale_of_flops(min(event.flops for event in events if event.flops > 0))
        columns.append(_number(f"Total {name}", lambda e: f"{e.flops / scale:8.3f}" if e.flops > 0 else "--"))
    return columns


def _at_most(width: int, limit: int | None) -> int:
    return width if limit is None else min(width, limit)


def _number(header: str, cell: Callable[[AnyEvent], str]) -> Column:
    return Column(header, _WIDTH, lambda event: [cell(event)])


def _name_column(events: Sequence[AnyEvent], limit: int | None) -> Column:
    width = _at_most(max(len(str(event.key)) for event in events) + 4, limit)

    def cells(event: AnyEvent) -> Sequence[str]:
        name = str(event.key)
        return [name[: limit - 3] + "..." if limit is not None and len(name) >= limit - 3 else name]

    return Column("Name", width, cells)


def _source_column(events: Sequence[AnyEvent], limit: int | None) -> Column:
    width = _at_most(max(len(entry) for event in events for entry in event.stack) + 4, limit)

    def cells(event: AnyEvent) -> Sequence[str]:
        return [_end_of(entry, width) for entry in event.stack] + [""]  # an empty line after each event

    return Column("Source Location", width, cells, "<")


def _end_of(path: str, width: int) -> str:
    return path if len(path) <= width else "..." + path[len(path) - width + 3 :]


def shown_events(events: Sequence[AnyEvent], options: TableOptions) -> Sequence[AnyEvent]:
    """The events that have rows in the table."""
    if options.top_level_events_only:
        events = [event for event in events if event.cpu_parent is None]
    return events if options.row_limit < 0 else events[: options.row_limit]


def text_of(events: Sequence[AnyEvent], options: TableOptions) -> str:
    """The table; "" if there are no events."""
    if not events:
        return ""
    columns = columns_of(events, options)
    separator = "".join("-" * column.width + _GAP for column in columns)
    row = "".join(f"{{: {column.align}{column.width}}}{_GAP}" for column in columns)
    across = "=" * (len(separator) - len(_GAP))
    lines = [] if options.header is None else [across, options.header]
    if options.top_level_events_only:
        lines += [across, "This report only display top-level ops statistics"]
    lines += [separator, row.format(*(column.header for column in columns)), separator]
    for event in shown_events(events, options):
        cells = [column.cells(event) for column in columns]
        for k in range(max(map(len, cells))):
            lines.append(row.format(*(cell[k] if k < len(cell) else "" for cell in cells)))
    total = format_time_in(total_self_time(events), options.time_unit)
    return "\n".join([*lines, separator, f"Self CPU time total: {total}", ""])


def html_of(events: Sequence[AnyEvent], options: TableOptions) -> str:
    """The table as notebooks show it."""
    columns = columns_of(events, options) if events else []
    head = "".join(f"<th scope='col'>{html.escape(column.header)}</th>" for column in columns)
    rows = []
    for event in shown_events(events, options):
        texts = ["\n".join(column.cells(event)).strip() for column in columns]
        cells = [html.escape(text).replace("\n", "<br>") for text in texts]
        rows.append(f"<tr><th scope='row'>{cells[0]}</th>{''.join(f'<td>{cell}</td>' for cell in cells[1:])}</tr>")
    caption = f"<caption>Self CPU time total: {format_time_in(total_self_time(events), options.time_unit)}"
    hidden = len(events) - len(rows)
    caption += f"; {hidden} more rows</caption>" if hidden > 0 else "</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
