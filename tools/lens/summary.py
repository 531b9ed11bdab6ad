"""Sums up a profile by owner, function and line; also as text in 100 columns."""

import textwrap
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from tools.lens.costs import Profile
from tools.lens.sources import BUILD, CORE, Spot, full_name, plain, source, source_file, spot_of

WIDTH = 100
FUNCTIONS, LINES = 12, 8        # number of each that the text shows


@dataclass(frozen=True)
class Row:
    """A function: its own cost, its total cost, and its number of calls; the last two are None if it is inlined."""

    spot: Spot
    own: int
    inclusive: int | None
    calls: int | None


@dataclass(frozen=True)
class Summary:
    """A profile by names: functions (`rows`) and lines of the core, the most expensive first."""

    profile: Profile
    owners: Counter[str]
    rows: list[Row]
    lines: Counter[Spot]
    inclusive_lines: Counter[tuple[str, int]]

    def share(self, cost: int) -> str:
        return f"{100 * cost / max(1, self.profile.total):.1f}%"


def summarize(profile: Profile) -> Summary:
    """summarize(profile) -> its Summary."""
    owners: Counter[str] = Counter()
    functions: Counter[Spot] = Counter()
    lines: Counter[Spot] = Counter()
    first: dict[Spot, int] = {}
    for place, cost in profile.own.items():
        spot = spot_of(place)
        owners[spot.owner] += cost
        function = spot._replace(line=0)
        functions[function] += cost
        if spot.owner == "core":
            lines[spot] += cost
            if spot.line:
                first[function] = min(first.get(function, spot.line), spot.line)
    calls, inclusive = by_name(profile.calls), by_name(profile.inclusive)
    rows = []
    for function, own in functions.most_common():
        name = full_name(function) if function.file else function.function
        spot = function._replace(line=first.get(function, 0))
        rows.append(Row(spot, own, inclusive.get(name), calls.get(name)))
    return Summary(profile, owners, rows, lines, lines_with_callees(profile))


def by_name(costs: Counter[str]) -> dict[str, int]:
    """by_name(costs of symbols) -> the costs of functions, which may be compiled more than once."""
    found: dict[str, int] = defaultdict(int)
    for symbol, cost in costs.items():
        found[plain(symbol)] += cost
    return found


def lines_with_callees(profile: Profile) -> Counter[tuple[str, int]]:
    """The total costs of lines of the core."""
    found: Counter[tuple[str, int]] = Counter()
    for (file, line), cost in profile.inclusive_lines.items():
        if name := source_file(file):
            found[name, line] += cost
    return found


def short(file: str, line: int) -> str:
    """short("autograd_cy/_core/graph/node/node.pyx", 7) -> "graph/node/node.pyx:7"."""
    path = Path(file)
    for folder in (BUILD / "templates", CORE):
        if folder in path.parents:
            path = path.relative_to(folder)
    return f"{path}:{line}" if line else str(path)


def as_text(summary: Summary, title: str) -> str:
    """as_text(summary, title) -> the summary for a terminal."""
    out = [title, *owners_text(summary), f"  {'own':>6} {'total':>6} {summary.profile.unit:>13} {'calls':>9}  function"]
    for row in summary.rows[:FUNCTIONS]:
        calls = "" if row.calls is None else f"{row.calls:,}"
        total = "" if row.inclusive is None else summary.share(row.inclusive)
        where = short(row.spot.file, row.spot.line) if row.spot.file else f"({row.spot.owner})"
        out.append(f"  {summary.share(row.own):>6} {total:>6} {row.own:>13,} {calls:>9}  {row.spot.function}  {where}")
    numbered = Counter({spot: cost for spot, cost in summary.lines.items() if spot.line})
    if numbered:
        out.append(f"  {'own':>6} {summary.profile.unit:>20}  line")
    for spot, cost in numbered.most_common(LINES):
        text = source(spot.file).lines[spot.line - 1].strip()
        out.append(f"  {summary.share(cost):>6} {cost:>20,}  {short(spot.file, spot.line)}: {text}")
    return "\n".join(cut(line) for line in out) + "\n"


def owners_text(summary: Summary) -> list[str]:
    """The total cost and its owners, as lines."""
    named = [(owner, summary.share(cost)) for owner, cost in summary.owners.most_common()]
    shares = ", ".join(f"{owner} {share}" for owner, share in named if share != "0.0%")
    text = f"{summary.profile.total:,} {summary.profile.unit}: {shares}"
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def as_table(summaries: dict[str, Summary]) -> str:
    """as_table(summary of each workload) -> a block for each: the owners of the cost, and the hot functions."""
    out = []
    for title, summary in summaries.items():
        out += [title, *owners_text(summary)]
        for row in [row for row in summary.rows if row.spot.owner == "core"][:4]:
            out.append(f"  {summary.share(row.own):>6}  {row.spot.function}  {short(row.spot.file, row.spot.line)}")
    return "\n".join(cut(line) for line in out) + "\n"


def cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."
