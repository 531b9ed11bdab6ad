"""The picture of live bytes over time, with the lines that hold them, as SVG without scripts or network (facade)."""

import html

from ._format import format_memory, format_time
from ._memory_changes import lines_over_time
from ._operands import shown_line
from ._recording import Recording

WIDTH, HEIGHT, LEFT, BOTTOM = 1000, 320, 90, 24
LINES = 7  # that have a colour of their own
COLORS = ("#3b6fb6", "#d1732c", "#3d8f5f", "#b04a5a", "#7a62a8", "#8a6d3b", "#2f8f9d", "#8c8c8c")


def picture_of(recording: Recording, label: str) -> str:
    """The memory that lines hold over time, stacked. A column of pixels shows the maximum within it."""
    columns, duration = _columns(recording), recording.end - recording.begin
    lines, held = lines_over_time(recording, columns.values(), LINES)
    most = max([*(sum(column) for column in zip(*held, strict=True)), 1]) * 1.05
    names = [html.escape("all others" if line is None else shown_line(line)) for line in lines]
    tops, parts, legend = [0] * len(columns), [], []
    for name, row, color in zip(names, held, COLORS, strict=False):
        bottoms, tops = tops, [a + b for a, b in zip(tops, row, strict=True)]
        path = _band(list(columns), bottoms, tops, most)
        parts.append(f'<path d="{path}" fill="{color}" fill-opacity="0.85"><title>{name}</title></path>')
        legend.append(f'<span style="white-space:nowrap"><span style="color:{color}">&#9632;</span> {name}</span>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" aria-label="{html.escape(label)}" font-size="12" '
        f'fill="currentColor">{"".join(parts)}{_axes(duration, most)}</svg><p>{" ".join(legend)}</p>'
    )


def _columns(recording: Recording) -> dict[int, int]:
    """For each column of pixels, the place of its largest number of bytes, in ascending order."""
    times, live = recording.live_bytes()
    columns: dict[int, int] = {}
    span = max(recording.end - recording.begin, 1)
    for k, time in enumerate(times):
        column = min(LEFT + (WIDTH - LEFT) * max(time - recording.begin, 0) // span, WIDTH - 1)
        if column not in columns or live[k] > live[columns[column]]:
            columns[column] = k
    return columns or {LEFT: 0}


def _band(columns: list[int], bottoms: list[int], tops: list[int], most: float) -> str:
    """A band between two curves of steps."""
    ends = [*columns[1:], WIDTH]
    above = "".join(f"L{x} {_y(y, most)}H{end}" for x, end, y in zip(columns, ends, tops, strict=True))
    back = list(zip(columns, ends, bottoms, strict=True))[::-1]
    below = "".join(f"L{end} {_y(y, most)}H{x}" for x, end, y in back)
    return f"M{columns[0]} {_y(tops[0], most)}{above}{below}Z"


def _y(nbytes: float, most: float) -> float:
    return round((HEIGHT - BOTTOM) * (1 - nbytes / most), 1)


def _axes(duration: int, most: float) -> str:
    base, marks = HEIGHT - BOTTOM, 4
    parts = [f'<path d="M{LEFT} 0V{base}H{WIDTH}" fill="none" stroke="currentColor"/>']
    for k in range(marks + 1):
        y, x = _y(most / 1.05 * k / marks, most), LEFT + (WIDTH - LEFT) * k / marks
        anchor = "start" if k == 0 else "end" if k == marks else "middle"
        size, time = format_memory(int(most / 1.05 * k / marks)), format_time(duration * k / marks / 1e3)
        parts.append(f'<text x="{LEFT - 6}" y="{y}" dy="{4 if k < marks else 8}" text-anchor="end">{size}</text>')
        parts.append(f'<text x="{x}" y="{HEIGHT - 6}" text-anchor="{anchor}">{time}</text>')
    return "".join(parts)
