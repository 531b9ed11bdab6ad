"""Compare: many measurements as a table (facade)."""

import enum
import math
from collections.abc import Iterable, Sequence

from ._measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

_BEST, _GOOD, _BAD, _VERY_BAD, _BOLD, _END = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m", "\033[1m", "\033[0m"
_GAP = "  |  "

Cell = Measurement | None


class Colorize(enum.Enum):
    """The scope of the best time: a column, or a row.

    >>> from autograd_cy.utils.benchmark import Colorize
    >>> Colorize("rowwise")
    <Colorize.ROWWISE: 'rowwise'>
    """

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """``Compare(results)`` shows measurements as tables, one for each label: rows by sub_label, columns by description.

    ValueError for other objects.

    >>> from autograd_cy.utils.benchmark import Compare, Measurement, TaskSpec
    >>> def measured(size, name, time):
    ...     task = TaskSpec("x * x", "pass", label="Products", sub_label=size, description=name)
    ...     return Measurement(1, [time], task)
    >>> Compare([measured("4x8", "old", 3e-6), measured("4x8", "new", 2e-6)]).print()
    [------- Products ------]
               |  old  |  new
    1 threads: --------------
          4x8  |  3.0  |  2.0
    <BLANKLINE>
    Times are in microseconds (us).
    <BLANKLINE>
    """

    def __init__(self, results: Iterable[Measurement]):
        self._results: list[Measurement] = []
        self._trims, self._highlights, self._colorize = False, False, Colorize.NONE
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """extend_results(results) adds measurements."""
        results = list(results)
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """trim_significant_figures() shows only significant digits."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """colorize() colours times relative to the best of their column, or row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """highlight_warnings() marks times with a large spread."""
        self._highlights = True

    def print(self) -> None:
        """print() prints the tables."""
        print(self)

    def __str__(self) -> str:
        by_label: dict[str | None, list[Measurement]] = {}
        for result in Measurement.merge(self._results):
            by_label.setdefault(result.task_spec.label, []).append(result)
        return "\n".join(Table(group, self._colorize, self._trims, self._highlights).render() for group in by_label.values())


class Table:
    """The table of the measurements of one label. A group of rows has one number of threads."""

    def __init__(self, results: Sequence[Measurement], colorize: Colorize, trims: bool, highlights: bool):
        self.results, self.colorize, self.trims = results, colorize, trims
        self.highlights = highlights and any(result.has_warnings for result in results)
        self.unit, self.scale = select_unit(min(result.median for result in results))
        keys = ordered_unique((r.task_spec.num_threads, r.env, r.as_row_name) for r in results)
        self.rows: list[tuple[int, str, str]] = sorted(keys, key=lambda key: key[:2])  # statements keep their order
        self.descriptions: list[str | None] = ordered_unique(r.task_spec.description for r in results)
        found = {((r.task_spec.num_threads, r.env, r.as_row_name), r.task_spec.description): r for r in results}
        self.cells: list[list[Cell]] = [[found.get((row, name)) for name in self.descriptions] for row in self.rows]
        self.formats = [self._format_of(k) for k in range(len(self.descriptions))]

    def _format_of(self, column: int) -> tuple[str, int]:
        """The number format of a column, and the width of its spread marks."""
        found = [row[column] for row in self.cells]
        times = [cell for cell in found if cell is not None]
        digits = [math.ceil(math.log10(cell.median / self.scale)) for cell in times]
        decimals = 1
        if self.trims:
            decimals = min(max(c.significant_figures - d, 0) for c, d in zip(times, digits, strict=True))
        length = max(digits) + decimals + (1 if decimals else 0)
        return f"{{:>{max(length, 0)}.{decimals}f}}", 7 if self.highlights and any(c.has_warnings for c in times) else 0

    def _text_of(self, cell: Cell, column: int) -> str:
        number, spread_width = self.formats[column]
        if cell is None:
            return " " * (len(number.format(1.0)) + spread_width)
        value = cell.median / self.scale
        if self.trims:
            value = trim_sigfig(value, cell.significant_figures)
        spread = f" (! {cell.iqr / cell.median * 100:.0f}%)" if spread_width and cell.has_warnings else ""
        return number.format(value) + spread.rjust(spread_width)

    def _row_name(self, k: int) -> str:
        envs = sorted({result.env for result in self.results})
        if len(envs) == 1:
            return f"      {self.rows[k][2]}"
        width = max(map(len, envs)) + 4
        is_new = k == 0 or self.rows[k - 1][:2] != self.rows[k][:2]
        return "  " + (f"({self.rows[k][1]})" if is_new else "").ljust(width) + self.rows[k][2]

    def _best(self, k: int, column: int) -> float:
        """The best time to compare a cell with."""
        if self.colorize is Colorize.ROWWISE:
            return min(cell.median for cell in self.cells[k] if cell is not None)
        group = [row[column] for key, row in zip(self.rows, self.cells, strict=True) if key[0] == self.rows[k][0]]
        return min(cell.median for cell in group if cell is not None)

    def _shown(self, k: int, column: int, width: int) -> str:
        cell = self.cells[k][column]
        text = self._text_of(cell, column).center(width)
        if cell is None or self.colorize is Colorize.NONE:
            return text
        return coloured(text, cell.median, self._best(k, column))

    def render(self) -> str:
        """The text of the table."""
        header = ["", *(str(name) if name is not None else "" for name in self.descriptions)]
        texts = [[self._row_name(k), *(self._text_of(c, j) for j, c in enumerate(row))] for k, row in enumerate(self.cells)]
        widths = [max(map(len, column)) for column in zip(header, *texts, strict=True)]
        lines = [_GAP.join(text.center(width) for text, width in zip(header, widths, strict=True))]
        across = len(lines[0])
        for k, key in enumerate(self.rows):
            if k == 0 or key[0] != self.rows[k - 1][0]:
                lines.append(f"{key[0]} threads: ".ljust(across, "-"))
            shown = [self._shown(k, column, widths[column + 1]) for column in range(len(self.descriptions))]
            lines.append(_GAP.join([texts[k][0].ljust(widths[0]), *shown]))
        label = f" {self.results[0].task_spec.label or ''} ".center(across - 2, "-")
        notes = f"Times are in {unit_to_english(self.unit)}s ({self.unit}).\n"
        if self.highlights:
            notes += "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"
        return "\n".join([f"[{label}]", *lines, "", notes])


def coloured(text: str, value: float, best: float) -> str:
    """A time coloured by its distance to the best."""
    if value <= best * 1.01 or value <= best + 100e-9:
        return _BEST + _BOLD + text + _END * 2
    if value <= best * 1.1:
        return _GOOD + _BOLD + text + _END * 2
    if value >= best * 5:
        return _VERY_BAD + _BOLD + text + _END * 2
    if value >= best * 2:
        return _BAD + text + _END * 2
    return text
